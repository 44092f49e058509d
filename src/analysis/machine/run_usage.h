// What a run used as a whole: processors, memory, storage, GPUs and energy, of all its processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/machine/telemetry.h"
#include "analysis/structure/steps.h"
#include "store/trace.h"

namespace fathom {

/// Of one GPU while the run lasted. Unset: not recorded.
struct GpuUsage {
  std::int32_t gpu = 0;               ///< As NVML numbers it.
  std::optional<double> utilization;  ///< Mean, percent of the time.
  std::optional<double> watts;        ///< Mean.
  std::optional<double> watts_limit;
  std::optional<double> memory_peak;  ///< Bytes, of all programs that use it.
  std::optional<double> memory_total;
};

/// Of a process and its descendants.
struct TreeUsage {
  std::size_t processes = 0;
  std::optional<Duration> wall;  ///< Of the process on top.
  /// Processor time. The larger of what the ends of processes said (with children that were waited
  /// for) and of what telemetry saw.
  std::optional<Duration> cpu;
  /// Most memory that was resident at a moment, Σ over processes: pages that they share count for
  /// each.
  std::optional<double> memory_peak;
  std::optional<double> read_bytes;  ///< From storage.
  std::optional<double> written_bytes;

  /// Processors in use on the average.
  [[nodiscard]] std::optional<double> cores() const;
};

struct RankUsage {
  std::int32_t rank = 0;
  std::int64_t pid = 0;
  TreeUsage usage;
};

struct RunUsage {
  std::optional<ProcessRun> main;  ///< The program itself, where it is known.
  Interval time{};                 ///< Of the program, else of telemetry.
  TreeUsage tree;
  std::vector<RankUsage> ranks;  ///< By rank; empty for fewer than two.
  std::optional<double> cores;   ///< Processors of the machine, or what its group may use.
  std::optional<double> memory_limit;
  bool limited_by_group = false;  ///< The memory limit is that of a control group.
  std::vector<GpuUsage> gpus;
  std::optional<double> joules;  ///< Of all that could be measured.
  std::string consumers;         ///< Whose they are: "GPU 0, CPU package-0".
  std::optional<double> joules_per_step;
  std::size_t steps = 0;  ///< That joules_per_step is the mean of.
};

/// A step of the run, also outside of what torch.profiler recorded.
struct RunStep {
  std::int64_t number = -1;
  Interval window{};
};

/// The fact of a session folder that lists them: "[[number,start,end],…]", ns of the trace.
inline constexpr std::string_view kRunStepsFact = "run.steps";
/// Where those times have their zero, as Trace::origin_ns: an export may have another.
inline constexpr std::string_view kRunStepsOriginFact = "run.steps.origin_ns";

/// The steps of the whole run by that fact; empty where there is none.
std::vector<RunStep> recorded_run_steps(const Trace& trace);

/// The steps whose energy is reported: those of the whole run where another recorder counted them,
/// else the trace's counted ones.
std::vector<RunStep> steps_of_run(const Trace& trace, const Steps& steps);

/// O(samples of memory * log). Everything is unset in a trace without processes and telemetry.
RunUsage run_usage(const Trace& trace, const Telemetry& telemetry, const Steps& steps);

/// "0", or the name of the signal that ended the process; "" where `status` (as of waitpid()) is
/// unknown.
std::string exit_text(std::int32_t status);

}  // namespace fathom

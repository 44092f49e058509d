// fathom bench: runs one command, or two in random order, and keeps what each run took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/bench_run.h"
#include "measure/child.h"
#include "measure/conditions.h"
#include "measure/run_taker.h"
#include "measure/sampling.h"

namespace fathom::measure {

/// What is measured of each run and decides the verdict, by its id: see metrics.h.
inline constexpr std::string_view kAutoMetric = "auto";

struct BenchOptions {
  std::vector<std::string> base;     ///< Words; empty: the command is measured alone.
  std::vector<std::string> command;  ///< Words.
  SamplingPlan plan;                 ///< `paired` is set by whether there is a base.
  /// "auto": the step where all runs of the warm-up had steps, else the wall time.
  std::string metric = std::string(kAutoMetric);
  std::size_t warmup = 1;  ///< Runs of each side before, which count for nothing.
  std::string prepare;     ///< For sh -c, before each run; not timed.
  ChildOptions child;
  bool ignore_failure = false;  ///< A run that fails counts like others.
  /// A folder that keeps what each run timed, as session folders: base/001, new/001, …; "" for
  /// none.
  std::string keep;
  Given given;
  bool telemetry = false;  ///< Energy, clocks and memory of devices beside each run.
};

struct BenchOutcome {
  std::vector<BenchRun> runs;  ///< In the order in which they ran.
  std::string_view headline;   ///< The id of the metric that decides.
  Sampled sampled;             ///< That metric, of complete pairs.
  Conditions conditions;
  Duration elapsed{};
  int interrupted = 0;  ///< The signal that ended it; 0 for none.
  std::optional<Failure> failure;
};

struct BenchReceivers {
  std::function<void(const SamplingState&)> progress;     ///< May be empty.
  std::function<void(const Announcement&)> announcement;  ///< May be empty.
  std::function<void(const std::string&)> warning;        ///< May be empty.
};

/// Measures until the plan is fulfilled, a run fails, or a signal asks to end: then what was
/// measured is kept. Holds the signals of the process meanwhile (ChildRunner). Errors: as
/// ChildRunner::run(), for a command that cannot be started.
Result<BenchOutcome> run_bench(const BenchOptions& options, const BenchReceivers& receivers);

/// One value of each complete pair of a side, in the order of pairs. `value` may be unset: then the
/// list is empty, for a pair without it is none.
std::vector<double> values_of(const BenchOutcome& outcome, Side side,
                              const std::function<std::optional<double>(const BenchRun&)>& value);

}  // namespace fathom::measure

// A source of telemetry: opens, or says why not and what would help; then it is asked again and
// again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/proc_file.h"
#include "monitor/process_tree.h"
#include "monitor/series.h"

namespace fathom::monitor {

/// What a source is opened with. What it refers to outlives all sources.
struct Surroundings {
  Roots roots;
  ProcessTree& tree;
  /// NVML's library; empty: where the loader finds libnvidia-ml.so.1.
  std::string nvml_path;
  /// Processor time of the tree since it is watched, seconds; kept up by the source `processes` for
  /// those that come after it (SourceSpec::after).
  double tree_cpu = 0;
};

/// Something that cannot be recorded here.
struct Missing {
  std::string what;
  std::string why;
  std::string remedy;
  /// The numbers that are missing in consequence. open_source() fills in what a source leaves out.
  std::string lost = {};
  bool whole_source = false;  ///< Nothing of the source can be recorded.
};

/// One moment of sampling.
struct Tick {
  std::int64_t time = 0;     ///< When it is, as precisely as it was met.
  std::uint64_t number = 0;  ///< Ticks since the start, missed ones too.
  bool brisk = false;        ///< True about five times a second: for what costs more.
  bool slow = false;         ///< True about once a second: for what costs much, or changes little.
};

class Source {
 public:
  Source() = default;
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  /// Reads and puts. What cannot be read this time is left out.
  virtual void sample(const Tick& tick, Series& series) = 0;
};

struct Opened {
  std::unique_ptr<Source> source;  ///< Null: nothing of it can be recorded.
  std::vector<Missing> missing;    ///< The whole, or single counters of it.
};

/// Sources of one lane share a thread, so that a slow one holds up only its own.
enum class Lane : std::uint8_t {
  host,      ///< Files of the kernel: microseconds.
  gpu,       ///< Calls of a driver: may take milliseconds.
  gpu_slow,  ///< Calls that take tens of milliseconds; once a second.
};

struct SourceSpec {
  std::string_view name;
  std::string_view title;  ///< What it records, for people.
  std::string_view lost;   ///< Without it: counters, and what is concluded from them.
  Lane lane;
  Opened (*open)(Surroundings& surroundings, Series& series);
  std::span<const CounterSpec> counters;
  /// The source of the same lane whose reading of the same moment it uses; "" for none.
  std::string_view after = {};
};

/// The source of GPUs, whose absence means that none can be sampled.
inline constexpr std::string_view kGpuSource = "gpu";

/// Every source.
std::span<const SourceSpec> all_sources();
/// Every counter, in the order of docs/capture-reference.md.
std::vector<CounterSpec> all_counters();

/// Those of a lane in the order in which they are to be asked.
std::vector<const SourceSpec*> in_order(Lane lane, std::span<const SourceSpec> sources);

/// Opens a source. Of what is missing it says what is lost: with the whole source what its spec
/// says, with a single counter that counter.
Opened open_source(const SourceSpec& spec, Surroundings& surroundings, Series& series);

}  // namespace fathom::monitor

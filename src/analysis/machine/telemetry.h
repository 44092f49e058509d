// Telemetry: counters that were sampled beside the program, by name, over stretches of time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "store/trace.h"

namespace fathom {

/// One counter of one process or device, its samples by time. Between two samples it is a straight
/// line; before the first and after the last nothing is known.
struct CounterLine {
  std::string_view name;  ///< "gpu.power"; lives in the trace.
  std::int64_t pid = 0;   ///< 0: the machine.
  std::int32_t device = -1;
  std::vector<Time> times;
  std::vector<double> values;

  /// The stretch that samples cover.
  [[nodiscard]] Interval span() const { return {times.front(), times.back()}; }
  /// At that moment; unset outside of span().
  [[nodiscard]] std::optional<double> at(Time time) const;
};

/// What a level did over some time.
struct LevelSummary {
  double mean = 0;  ///< Weighted by time.
  double least = 0;
  double most = 0;
  Duration known{};  ///< The time of which it is known.
};

/// Every counter of a trace.
class Telemetry {
 public:
  /// The trace must outlive it. O(samples * log).
  explicit Telemetry(const Trace& trace);

  [[nodiscard]] bool empty() const { return lines_.empty(); }
  /// The counter of that name, or nullptr. `device` as NVML numbers it, -1 for none.
  [[nodiscard]] const CounterLine* find(std::string_view name, std::int32_t device = -1,
                                        std::int64_t pid = 0) const;
  [[nodiscard]] const std::vector<CounterLine>& lines() const { return lines_; }
  /// The GPU of telemetry that is device `device` of the program; unset where that cannot be known.
  /// CUDA_VISIBLE_DEVICES is followed where it was recorded.
  [[nodiscard]] std::optional<std::int32_t> gpu_of(std::int32_t device) const;

 private:
  const Trace& trace_;
  std::vector<CounterLine> lines_;  // by name, device, pid
  std::vector<std::int32_t> gpus_;  // ascending
};

/// A level over stretches of time that do not overlap; unset where nothing of them is known.
/// O(stretches * log n + samples inside).
std::optional<LevelSummary> level(const CounterLine& line, std::span<const Interval> stretches);
/// By how much a total rose during the stretches; unset where nothing of them is known.
/// O(stretches * log n).
std::optional<double> rise(const CounterLine& line, std::span<const Interval> stretches);
/// The part of the stretches that samples cover.
Duration known(const CounterLine& line, std::span<const Interval> stretches);
/// rise() of a total in seconds, as percent of the time that is known.
std::optional<double> percent_of_time(const CounterLine& line, std::span<const Interval> stretches);

}  // namespace fathom

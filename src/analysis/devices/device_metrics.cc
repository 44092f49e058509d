// One pass over the kernels of a device, with the set of those running at each instant.
#include "analysis/devices/device_metrics.h"

#include <algorithm>
#include <vector>

#include "analysis/kernels/occupancy.h"

namespace fathom {
namespace {

/// Integrates min(1, sum of the values of the intervals running). Intervals come by start time.
class CappedSum {
 public:
  void add(Interval interval, double value) {
    advance(interval.begin);
    running_.push_back({interval.end, value});
    std::ranges::push_heap(running_, later);
    sum_ += value;
  }
  /// The integral in nanoseconds, once everything was added.
  double finish() {
    advance(Time::max());
    return integral_;
  }

 private:
  struct Running {
    Time end;
    double value;
  };
  static bool later(const Running& a, const Running& b) { return a.end > b.end; }

  void move_to(Time time) {
    if (!running_.empty())
      integral_ += std::min(sum_, 1.0) * static_cast<double>(to_ns(time - now_));
    now_ = time;
  }
  /// Lets everything end that ends by `time`, then stands at `time`.
  void advance(Time time) {
    while (!running_.empty() && running_.front().end <= time) {
      move_to(running_.front().end);
      sum_ -= running_.front().value;
      std::ranges::pop_heap(running_, later);
      running_.pop_back();
      if (running_.empty()) sum_ = 0;  // no rounding error outlives a gap
    }
    if (time != Time::max()) move_to(time);
  }

  std::vector<Running> running_;  // a heap: the first to end in front
  Time now_{};
  double sum_ = 0;
  double integral_ = 0;
};

/// What a launch configuration shows, worked out once per configuration and device.
struct ConfigFacts {
  bool known = false;
  std::optional<double> blocks_per_sm;
  std::optional<double> occupancy;
  bool doubtful = false;
};

/// Launches beyond this size opt in to more; Kineto's occupancy calculation does not know of it.
constexpr std::int64_t kUsualSharedMemory = std::int64_t{48} * 1024;

bool is_doubtful(const LaunchConfig& launch) {
  return launch.occupancy_percent == 0 && launch.shared_memory > kUsualSharedMemory;
}

class ConfigTable {
 public:
  ConfigTable(const Trace& trace, const Device* device)
      : trace_(trace), device_(device), facts_(trace.launch_configs.size()) {}
  const ConfigFacts& of(SliceId kernel) {
    static const ConfigFacts nothing;
    const std::uint32_t detail = trace_.slices.detail[kernel.row()];
    if (detail == SliceId::kNone) return nothing;
    const LaunchConfigId config = trace_.kernels.config[detail];
    if (!config.valid()) return nothing;
    ConfigFacts& facts = facts_[config.row()];
    if (!facts.known) {
      const LaunchConfig& launch = trace_.launch_configs[config.row()];
      facts = {true, grid_blocks_per_sm(launch, device_), achieved_occupancy(launch, device_),
               is_doubtful(launch)};
    }
    return facts;
  }

 private:
  const Trace& trace_;
  const Device* device_;
  std::vector<ConfigFacts> facts_;
};

}  // namespace

DeviceMetrics compute_device_metrics(const Trace& trace, const Timelines& timelines,
                                     const DeviceTimeline& timeline, Interval window) {
  DeviceMetrics metrics{.window = window, .time = busy_time(timeline, window)};
  ConfigTable configs(trace, device_properties(trace, timeline.device));
  CappedSum filled;
  double occupancy = 0;
  double sm_time = 0;
  double occupancy_time = 0;
  double doubtful_time = 0;
  for (const SliceId activity : timeline.activities) {
    const Time start = trace.slices.start[activity.row()];
    if (start >= window.end) break;
    if (trace.kind(activity) != SliceKind::kernel) continue;
    metrics.kernels += start >= window.begin ? 1U : 0U;
    const Interval part{std::max(start, window.begin),
                        std::min(trace.slices.end(activity), window.end)};
    if (part.begin >= part.end) continue;
    metrics.kernel_time += part.length();
    if (timelines.traits_of(trace, activity).tensor_cores)
      metrics.tensor_core_time += part.length();
    const auto ns = static_cast<double>(to_ns(part.length()));
    const ConfigFacts& facts = configs.of(activity);
    if (facts.blocks_per_sm) {
      filled.add(part, *facts.blocks_per_sm);
      sm_time += ns;
    }
    if (facts.occupancy) {
      occupancy += *facts.occupancy * ns;
      occupancy_time += ns;
      if (facts.doubtful) doubtful_time += ns;
    }
  }
  const auto length = static_cast<double>(to_ns(window.length()));
  const auto kernel_time = static_cast<double>(to_ns(metrics.kernel_time));
  if (length > 0) {
    const Duration running = metrics.time[Busy::compute] + metrics.time[Busy::communication];
    metrics.kernel_percent = 100.0 * static_cast<double>(to_ns(running)) / length;
    if (sm_time > 0) metrics.sm_efficiency_percent = 100.0 * filled.finish() / length;
  }
  if (occupancy_time > 0) metrics.achieved_occupancy_percent = occupancy / occupancy_time;
  if (kernel_time > 0) {
    metrics.tensor_core_percent =
        100.0 * static_cast<double>(to_ns(metrics.tensor_core_time)) / kernel_time;
    metrics.sm_known = sm_time / kernel_time;
    metrics.occupancy_known = occupancy_time / kernel_time;
    metrics.occupancy_doubtful = doubtful_time / kernel_time;
  }
  return metrics;
}

}  // namespace fathom

// Writes the sections about devices.
#include "reports/overview_devices.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/devices/device_metrics.h"
#include "analysis/kernels/occupancy.h"
#include "analysis/operators/peak_memory.h"
#include "analysis/structure/vendor.h"
#include "base/quantity_text.h"
#include "reports/step_selection.h"
#include "stats/summary.h"

namespace fathom {
namespace {

/// More devices than this are not all shown in brief.
constexpr std::size_t kInBrief = 2;
/// Lines of devices behind the idlest.
constexpr std::size_t kLines = 4;

/// "92 % of kernel time", where a metric speaks for a part only.
std::optional<std::string> part_note(double known) {
  if (known > 0.9995) return {};
  return "recorded for " + std::to_string(std::llround(100 * known)) + " % of kernel time";
}

std::optional<std::string> occupancy_note(const DeviceMetrics& metrics) {
  if (metrics.occupancy_doubtful < 0.005) return part_note(metrics.occupancy_known);
  return "too low: the recorder wrote 0 for launches with more than 48 KiB of shared memory, " +
         std::to_string(std::llround(100 * metrics.occupancy_doubtful)) + " % of kernel time";
}

void add_memory(const PeakMemory& memory, std::int32_t device, OverviewRows& rows) {
  const PeakMemory::Peak* const peak = memory.of(device);
  if (peak == nullptr) return;
  if (peak->allocated != kAbsent)
    rows.add("peak memory allocated", cell_of(peak->allocated), "bytes");
  if (peak->reserved != kAbsent) rows.add("peak memory reserved", cell_of(peak->reserved), "bytes");
}

/// Step statistics leave edge steps out, a device's window does not.
std::optional<std::string> window_note(const Context& context, std::int32_t device,
                                       Interval window) {
  std::size_t edges = 0;
  std::size_t whole = 0;
  for (const Step& step : context.steps().steps) {
    const bool inside = step.window.begin < window.end && window.begin < step.window.end;
    if (inside && context.steps().uses(step, device)) ++(step.edge || step.empty ? edges : whole);
  }
  if (edges == 0 || whole == 0) return {};
  return "holds " + edge_steps(edges) + " too";
}

/// The rows about one device's time.
class DeviceTime {
 public:
  DeviceTime(const BusyTime& time, Interval window, OverviewRows& rows)
      : time_(time), window_(static_cast<double>(to_ns(window.length()))), rows_(rows) {}

  void add_all() {
    rows_.show(Shown::in_full);
    rows_.add("utilisation", cell_of(share(time_.busy())), "percent");
    rows_.show(Shown::always);
    add("busy", time_.busy());
    add("idle", time_[Busy::idle]);
    add("compute", time_[Busy::compute]);
    add_kind("communication", Busy::communication);
    add_kind("memcpy", Busy::memcpy);
    add_kind("memset", Busy::memset);
    if (never_.empty()) return;
    rows_.show(Shown::in_brief);
    rows_.add("none recorded", cell_of(never_), "");
    rows_.show(Shown::always);
  }

 private:
  [[nodiscard]] std::optional<double> share(Duration part) const {
    return percent_of(static_cast<double>(to_ns(part)), window_);
  }
  void add(const std::string& metric, Duration time, std::optional<std::string> note = {}) {
    rows_.add(metric, cell_of(time), "ns", share(time), std::move(note));
  }
  /// Exposed and in all; in brief on one line, or none for what never happened.
  void add_kind(const std::string& name, Busy kind) {
    const Duration exposed = time_[kind];
    const Duration total = time_.total_of(kind);
    rows_.show(Shown::in_full);
    add(name + " exposed", exposed);
    add(name + " total", total);
    rows_.show(Shown::in_brief);
    if (to_ns(total) == 0) {
      never_ += (never_.empty() ? "" : ", ") + name;
    } else {
      const double part = static_cast<double>(to_ns(exposed)) / static_cast<double>(to_ns(total));
      add(name + " exposed", exposed,
          exposed == total ? "all of it"
                           : std::to_string(std::llround(100 * part)) + " % of all " + name);
    }
    rows_.show(Shown::always);
  }

  const BusyTime& time_;
  double window_;
  OverviewRows& rows_;
  std::string never_;  // kinds without any time, with commas
};

/// A device with activity in the overview.
struct ActiveDevice {
  const DeviceTimeline* timeline = nullptr;
  DeviceMetrics metrics{};

  [[nodiscard]] std::int32_t number() const { return timeline->device; }
  [[nodiscard]] Duration idle() const { return metrics.time[Busy::idle]; }
  [[nodiscard]] double idle_percent() const {
    const auto window = static_cast<double>(to_ns(metrics.window.length()));
    return window > 0 ? 100.0 * static_cast<double>(to_ns(idle())) / window : 0.0;
  }
};

/// The devices that the selection takes.
struct ShownDevices {
  std::vector<ActiveDevice> active;        ///< By number.
  std::vector<std::int32_t> memory_alone;  ///< Nothing else of these was recorded.
};

ShownDevices shown_devices(const Context& context, const PeakMemory& memory) {
  const auto selected = [&](std::int32_t number) {
    return !context.selection.device || *context.selection.device == number;
  };
  const Timelines& timelines = context.timelines();
  ShownDevices shown;
  for (const DeviceTimeline& timeline : timelines.devices) {
    if (!selected(timeline.device)) continue;
    const Interval window = overview_window(context, timeline.device);
    shown.active.push_back(
        {&timeline, compute_device_metrics(context.trace, timelines, timeline, window)});
  }
  for (const PeakMemory::Peak& peak : memory.peaks) {
    if (timelines.find(peak.device) == nullptr && selected(peak.device))
      shown.memory_alone.push_back(peak.device);
  }
  return shown;
}

std::string name_of(const Context& context, std::int32_t number) {
  const Device* const device = device_properties(context.trace, number);
  const bool named = device != nullptr && !device->name.empty();
  return "device " + std::to_string(number) + (named ? " · " + device->name : "");
}

/// `which` stands behind the name.
void add_active(const Context& context, const PeakMemory& memory, const ActiveDevice& device,
                const std::string& which, OverviewRows& rows) {
  const DeviceMetrics& metrics = device.metrics;
  rows.section(name_of(context, device.number()) + which);
  rows.add("window", cell_of(metrics.window.length()), "ns", {},
           window_note(context, device.number(), metrics.window));
  DeviceTime(metrics.time, metrics.window, rows).add_all();
  rows.show(Shown::in_full);
  rows.add("first to last activity",
           cell_of(active_span(*device.timeline, context.window()).length()), "ns");
  rows.show(Shown::always);
  rows.add_count("kernels", metrics.kernels);
  rows.show(Shown::in_full);
  rows.add_percent("kernel utilisation", metrics.kernel_percent);
  rows.show(Shown::always);
  rows.add_percent("SM efficiency, estimated", metrics.sm_efficiency_percent,
                   part_note(metrics.sm_known));
  rows.add_percent("achieved occupancy, estimated", metrics.achieved_occupancy_percent,
                   occupancy_note(metrics));
  // Names of other accelerators' kernels do not show it.
  if (speaks_cuda(context.trace))
    rows.add_percent("tensor-core share of kernel time", metrics.tensor_core_percent);
  add_memory(memory, device.number(), rows);
}

void add_each(const Context& context, const PeakMemory& memory, const ShownDevices& shown,
              OverviewRows& rows) {
  for (const ActiveDevice& device : shown.active) add_active(context, memory, device, "", rows);
  for (const std::int32_t number : shown.memory_alone) {
    rows.section(name_of(context, number));
    add_memory(memory, number, rows);
  }
}

/// One line for the idle time of all, with its median and range.
void add_spread(const std::vector<ActiveDevice>& by_idle, OverviewRows& rows) {
  std::vector<double> idle;
  std::vector<double> percents;
  for (const ActiveDevice& device : by_idle) {
    idle.push_back(static_cast<double>(to_ns(device.idle())));
    percents.push_back(device.idle_percent());
  }
  const double median = summarize(std::move(percents)).median;
  rows.add("median of all " + std::to_string(by_idle.size()),
           cell_of(std::llround(summarize(std::move(idle)).median)), "ns", median,
           "from " + percent_text(by_idle.back().idle_percent()) + " to " +
               percent_text(by_idle.front().idle_percent()) + " of a device's window");
}

/// The fullest device, for all.
void add_most_memory(const PeakMemory& memory, OverviewRows& rows) {
  const auto add = [&](std::string_view metric, std::int64_t PeakMemory::Peak::*size) {
    const auto most = std::ranges::max_element(memory.peaks, {}, size);
    if (most == memory.peaks.end() || (*most).*size == kAbsent) return;
    rows.add(metric, cell_of((*most).*size), "bytes", {},
             "on device " + std::to_string(most->device));
  };
  add("most memory allocated", &PeakMemory::Peak::allocated);
  add("most memory reserved", &PeakMemory::Peak::reserved);
}

/// The idlest device, a line for each of the next, and what stands for the rest.
void add_in_brief(const Context& context, const PeakMemory& memory, ShownDevices shown,
                  OverviewRows& rows) {
  std::vector<ActiveDevice>& active = shown.active;
  std::ranges::stable_sort(active, std::ranges::greater(), &ActiveDevice::idle_percent);
  if (!active.empty()) {
    add_active(context, memory, active.front(), ", the idlest of " + std::to_string(active.size()),
               rows);
  }
  rows.section("other devices · idle time");
  for (std::size_t i = 1; i < std::min(kLines + 1, active.size()); ++i) {
    rows.add(name_of(context, active[i].number()), cell_of(active[i].idle()), "ns",
             active[i].idle_percent());
  }
  if (active.size() > 1) add_spread(active, rows);
  if (!shown.memory_alone.empty())
    rows.add_count("of which only memory was recorded", shown.memory_alone.size());
  add_most_memory(memory, rows);
}

}  // namespace

std::string edge_steps(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " edge step" : " edge steps");
}

void add_devices(const Context& context, OverviewRows& rows) {
  const PeakMemory memory = compute_peak_memory(context);
  ShownDevices shown = shown_devices(context, memory);
  const bool few = shown.active.size() + shown.memory_alone.size() <= kInBrief;
  if (!few) rows.keep_to(Shown::in_full);
  add_each(context, memory, shown, rows);
  if (few) return;
  rows.keep_to(Shown::in_brief);
  add_in_brief(context, memory, std::move(shown), rows);
  rows.keep_to(Shown::always);
}

}  // namespace fathom

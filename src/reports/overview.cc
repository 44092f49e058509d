// overview: the first screen: can the capture be trusted, how long is a step, what did each device
// do, and what takes its time.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/device_metrics.h"
#include "analysis/health.h"
#include "analysis/occupancy.h"
#include "analysis/peak_memory.h"
#include "reports/overview_rows.h"
#include "reports/overview_top.h"
#include "reports/report.h"
#include "reports/step_selection.h"
#include "stats/summary.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"section", ColumnKind::text, "",
     "capture, step time, device N, top operators or top kernels."},
    {"metric", ColumnKind::name, "",
     "What the value is; in the top lists, the operator or kernel."},
    {"value", ColumnKind::text, "", "The value in its unit."},
    {"unit", ColumnKind::text, "", "ns, bytes, percent, count, or empty for a text."},
    {"percent", ColumnKind::percent, "percent",
     "Times of a device: share of its window. Top lists: share of the time of all device activity, "
     "or, in a trace "
     "without any, of all host self time."},
    {"note", ColumnKind::text, "", "What a value does not cover, where that is not nothing."},
};

void add_capture(const Context& context, OverviewRows& rows) {
  rows.section("capture");
  rows.add("health", text_value(compute_health(context).summary()), "");
}

std::string source_text(const Steps& steps) {
  return steps.source == StepSource::whole_trace ? "whole trace" : steps.name;
}

std::string edge_steps(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " edge step" : " edge steps");
}

/// With fewer steps than this, a 95th percentile is the longest step by another name.
constexpr std::size_t kStepsForTail = 20;

/// Statistics of the whole steps among those selected; of all of them when there is no whole one.
void add_step_time(const Context& context, OverviewRows& rows) {
  const Steps& steps = context.steps();
  std::vector<double> whole;
  std::vector<double> all;
  for (const Step& step : steps.steps) {
    if (!selects_step(context, step)) continue;
    all.push_back(static_cast<double>(to_ns(step.window.length())));
    if (!step.edge) whole.push_back(all.back());
  }
  const std::size_t left_out = whole.empty() ? 0 : all.size() - whole.size();
  rows.section("step time");
  rows.show(Shown::in_full);
  rows.add("steps by", text_value(source_text(steps)), "");
  rows.add_count("steps", all.size());
  if (left_out != 0) rows.add_count("edge steps left out", left_out);
  rows.show(Shown::in_brief);
  rows.add_count("steps", all.size(),
                 text_value("by " + source_text(steps) +
                            (left_out == 0 ? "" : "; " + edge_steps(left_out) + " left out")));
  rows.show(Shown::always);
  const Summary summary = summarize(whole.empty() ? std::move(all) : std::move(whole));
  if (summary.count == 0) return;
  rows.add_ns("mean", summary.mean);
  if (summary.count == 1) return;
  rows.add_ns("median", summary.median);
  rows.add_ns("stddev", summary.stddev);
  rows.add_ns("min", summary.min);
  rows.add_ns("max", summary.max);
  if (summary.count < kStepsForTail) rows.show(Shown::in_full);
  rows.add_ns("p95", summary.p95);
  rows.show(Shown::always);
}

/// "92 % of kernel time", where a metric speaks for a part only.
Value part_note(double known) {
  if (known > 0.9995) return {};
  return "recorded for " + std::to_string(std::llround(100 * known)) + " % of kernel time";
}

Value occupancy_note(const DeviceMetrics& metrics) {
  if (metrics.occupancy_doubtful < 0.005) return part_note(metrics.occupancy_known);
  return "too low: the recorder wrote 0 for launches with more than 48 KiB of shared memory, " +
         std::to_string(std::llround(100 * metrics.occupancy_doubtful)) + " % of kernel time";
}

void add_memory(const PeakMemory& memory, std::int32_t device, OverviewRows& rows) {
  const PeakMemory::Peak* const peak = memory.of(device);
  if (peak == nullptr) return;
  if (peak->allocated != kAbsent)
    rows.add("peak memory allocated", int_value(peak->allocated), "bytes");
  if (peak->reserved != kAbsent)
    rows.add("peak memory reserved", int_value(peak->reserved), "bytes");
}

/// Step statistics leave edge steps out, a device's window does not.
Value window_note(const Context& context, std::int32_t device, Interval window) {
  std::size_t edges = 0;
  std::size_t whole = 0;
  for (const Step& step : context.steps().steps) {
    const bool inside = step.window.begin < window.end && window.begin < step.window.end;
    if (inside && context.steps().uses(step, device)) ++(step.edge ? edges : whole);
  }
  if (edges == 0 || whole == 0) return {};
  return text_value("holds " + edge_steps(edges) + " too");
}

/// The rows about one device's time.
class DeviceTime {
 public:
  DeviceTime(const BusyTime& time, Interval window, OverviewRows& rows)
      : time_(time), window_(static_cast<double>(to_ns(window.length()))), rows_(rows) {}

  void add_all() {
    rows_.show(Shown::in_full);
    rows_.add("utilisation", share(time_.busy()), "percent");
    rows_.show(Shown::always);
    add("busy", time_.busy());
    add("idle", time_[Busy::idle]);
    add("compute", time_[Busy::compute]);
    add_kind("communication", Busy::communication);
    add_kind("memcpy", Busy::memcpy);
    add_kind("memset", Busy::memset);
    if (never_.empty()) return;
    rows_.show(Shown::in_brief);
    rows_.add("none recorded", text_value(never_), "");
    rows_.show(Shown::always);
  }

 private:
  [[nodiscard]] Value share(Duration part) const {
    return percent_value(static_cast<double>(to_ns(part)), window_);
  }
  void add(const std::string& metric, Duration time, Value note = {}) {
    rows_.add(metric, ns_value(time), "ns", share(time), std::move(note));
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
          text_value(exposed == total
                         ? "all of it"
                         : std::to_string(std::llround(100 * part)) + " % of all " + name));
    }
    rows_.show(Shown::always);
  }

  const BusyTime& time_;
  double window_;
  OverviewRows& rows_;
  std::string never_;  // kinds without any time, with commas
};

void add_device(const Context& context, const DeviceTimeline& timeline, OverviewRows& rows) {
  const Interval window = overview_window(context, timeline.device);
  const DeviceMetrics metrics =
      compute_device_metrics(context.trace, context.timelines(), timeline, window);
  rows.add("window", ns_value(window.length()), "ns", {},
           window_note(context, timeline.device, window));
  DeviceTime(metrics.time, window, rows).add_all();
  rows.show(Shown::in_full);
  rows.add("first to last activity", ns_value(active_span(timeline, context.window()).length()),
           "ns");
  rows.show(Shown::always);
  rows.add_count("kernels", metrics.kernels);
  rows.show(Shown::in_full);
  rows.add_percent("kernel utilisation", metrics.kernel_percent);
  rows.show(Shown::always);
  rows.add_percent("SM efficiency, estimated", metrics.sm_efficiency_percent,
                   part_note(metrics.sm_known));
  rows.add_percent("achieved occupancy, estimated", metrics.achieved_occupancy_percent,
                   occupancy_note(metrics));
  rows.add_percent("tensor-core share of kernel time", metrics.tensor_core_percent);
}

void add_devices(const Context& context, OverviewRows& rows) {
  const PeakMemory memory = compute_peak_memory(context);
  const auto begin = [&](std::int32_t number) {
    const Device* const device = device_properties(context.trace, number);
    const bool named = device != nullptr && !device->name.empty();
    rows.section("device " + std::to_string(number) + (named ? " · " + device->name : ""));
  };
  const auto selected = [&](std::int32_t number) {
    return !context.selection.device || *context.selection.device == number;
  };
  for (const DeviceTimeline& timeline : context.timelines().devices) {
    if (!selected(timeline.device)) continue;
    begin(timeline.device);
    add_device(context, timeline, rows);
    add_memory(memory, timeline.device, rows);
  }
  for (const PeakMemory::Peak& peak : memory.peaks) {
    if (context.timelines().find(peak.device) != nullptr || !selected(peak.device)) continue;
    begin(peak.device);
    add_memory(memory, peak.device, rows);
  }
}

Result<Table> compute(const Context& context) {
  Table table;
  OverviewRows rows(table);
  std::optional<OpSelfTimes> ops;
  {
    // Much of the work, and independent of the rest.
    const std::jthread helper([&] { ops.emplace(compute_op_self_times(context)); });
    add_capture(context, rows);
    add_step_time(context, rows);
    add_devices(context, rows);
  }
  add_top_operators(*ops, rows);
  add_top_kernels(context, rows);
  if (!context.steps().note.empty()) table.notes.push_back(context.steps().note);
  if (context.timelines().devices.empty())
    table.notes.emplace_back("The trace holds no device activity.");
  return table;
}

}  // namespace

Report overview() {
  return {.id = "overview",
          .title = "The first look: capture, step time, devices, and what takes their time",
          .doc =
              "One row per metric. A device's window runs from the start of the first step to the "
              "end of the last, or "
              "is the selected window; compute, the exposed times and idle sum to it to the "
              "nanosecond. Exposed: "
              "with nothing of a stronger kind running, in the order compute, communication, "
              "memcpy, memset. Text leaves out what says nothing here; --wide shows every row.",
          .columns = kColumns,
          .group_by = {},
          .sort = "",
          .example = "fathom overview trace.json.gz",
          .compute = compute};
}

}  // namespace fathom

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
#include "analysis/op_table.h"
#include "analysis/peak_memory.h"
#include "reports/report.h"
#include "reports/rows.h"
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

constexpr std::size_t kTop = 5;

/// Collects the rows of one section after the other.
class Rows {
 public:
  explicit Rows(Table& table) : table_(table) {}
  void section(std::string name) { section_ = std::move(name); }
  void add(std::string_view metric, Value value, std::string_view unit, Value percent = {},
           Value note = {}) {
    table_.rows.push_back({text_value(section_), text_value(metric), std::move(value),
                           text_value(unit), std::move(percent), std::move(note)});
  }
  void add_ns(std::string_view metric, double ns) {
    add(metric, int_value(std::llround(ns)), "ns");
  }
  void add_count(std::string_view metric, std::size_t count) {
    add(metric, int_value(count), "count");
  }
  /// A percentage, or nothing when it is not known.
  void add_percent(std::string_view metric, const std::optional<double>& percent, Value note = {}) {
    if (percent) add(metric, *percent, "percent", {}, std::move(note));
  }

 private:
  Table& table_;
  std::string section_;
};

void add_capture(const Context& context, Rows& rows) {
  rows.section("capture");
  rows.add("health", text_value(compute_health(context).summary()), "");
}

std::string source_text(const Steps& steps) {
  return steps.source == StepSource::whole_trace ? "whole trace" : steps.name;
}

/// Statistics of the whole steps among those selected; of all of them when there is no whole one.
void add_step_time(const Context& context, Rows& rows) {
  const Steps& steps = context.steps();
  std::vector<double> whole;
  std::vector<double> all;
  for (const Step& step : steps.steps) {
    if (!selects_step(context, step)) continue;
    all.push_back(static_cast<double>(to_ns(step.window.length())));
    if (!step.edge) whole.push_back(all.back());
  }
  rows.section("step time");
  rows.add("steps by", text_value(source_text(steps)), "");
  rows.add_count("steps", all.size());
  if (!whole.empty() && whole.size() < all.size())
    rows.add_count("edge steps left out", all.size() - whole.size());
  const Summary summary = summarize(whole.empty() ? std::move(all) : std::move(whole));
  if (summary.count == 0) return;
  rows.add_ns("mean", summary.mean);
  if (summary.count == 1) return;
  rows.add_ns("median", summary.median);
  rows.add_ns("stddev", summary.stddev);
  rows.add_ns("min", summary.min);
  rows.add_ns("max", summary.max);
  rows.add_ns("p95", summary.p95);
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

void add_memory(const PeakMemory& memory, std::int32_t device, Rows& rows) {
  const PeakMemory::Peak* const peak = memory.of(device);
  if (peak == nullptr) return;
  if (peak->allocated != kAbsent)
    rows.add("peak memory allocated", int_value(peak->allocated), "bytes");
  if (peak->reserved != kAbsent)
    rows.add("peak memory reserved", int_value(peak->reserved), "bytes");
}

void add_device(const Context& context, const DeviceTimeline& timeline, Rows& rows) {
  const Interval window = overview_window(context, timeline.device);
  const DeviceMetrics metrics =
      compute_device_metrics(context.trace, context.timelines(), timeline, window);
  const auto length = static_cast<double>(to_ns(window.length()));
  const auto time = [&](std::string_view metric, Duration duration) {
    rows.add(metric, ns_value(duration), "ns",
             percent_value(static_cast<double>(to_ns(duration)), length));
  };
  rows.add("window", ns_value(window.length()), "ns");
  rows.add("utilisation", percent_value(static_cast<double>(to_ns(metrics.time.busy())), length),
           "percent");
  time("busy", metrics.time.busy());
  time("idle", metrics.time[Busy::idle]);
  time("compute", metrics.time[Busy::compute]);
  time("communication exposed", metrics.time[Busy::communication]);
  time("communication total", metrics.time.total_of(Busy::communication));
  time("memcpy exposed", metrics.time[Busy::memcpy]);
  time("memcpy total", metrics.time.total_of(Busy::memcpy));
  time("memset exposed", metrics.time[Busy::memset]);
  time("memset total", metrics.time.total_of(Busy::memset));
  rows.add("first to last activity", ns_value(active_span(timeline, context.window()).length()),
           "ns");
  rows.add_count("kernels", metrics.kernels);
  rows.add_percent("kernel utilisation", metrics.kernel_percent);
  rows.add_percent("SM efficiency, estimated", metrics.sm_efficiency_percent,
                   part_note(metrics.sm_known));
  rows.add_percent("achieved occupancy, estimated", metrics.achieved_occupancy_percent,
                   occupancy_note(metrics));
  rows.add_percent("tensor-core share of kernel time", metrics.tensor_core_percent);
}

void add_devices(const Context& context, Rows& rows) {
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

/// By device self time; in a trace without device activity, by host self time. Reorders the rows.
void add_top_operators(OpTable& ops, Rows& rows) {
  const bool on_device = to_ns(ops.device_self_sum) > 0;
  const auto time = [on_device](const OpRow& row) {
    return on_device ? row.device_self : row.host_self;
  };
  const std::size_t count = std::min(kTop, ops.rows.size());
  const auto end = ops.rows.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(ops.rows.begin(), end, ops.rows.end(), [&](const OpRow& a, const OpRow& b) {
    return time(a) != time(b) ? time(a) > time(b) : a.name < b.name;
  });
  const auto sum = static_cast<double>(to_ns(on_device ? ops.device_self_sum : ops.host_self_sum));
  rows.section(on_device ? "top operators · device self time" : "top operators · host self time");
  for (auto row = ops.rows.begin(); row != end; ++row) {
    if (to_ns(time(*row)) == 0) break;
    rows.add(row->name, ns_value(time(*row)), "ns",
             percent_value(static_cast<double>(to_ns(time(*row))), sum));
  }
}

void add_top_kernels(const Context& context, Rows& rows) {
  const Trace& trace = context.trace;
  const Selector selector = context.selector();
  std::vector<Duration> by_name(trace.strings.size());
  std::vector<StringId> names;
  Duration sum{};
  for (const SliceId activity : context.links().activities) {
    if (!selector.activity(trace, activity)) continue;
    sum += trace.slices.duration[activity.row()];
    if (trace.kind(activity) != SliceKind::kernel) continue;
    const StringId name = trace.slices.name[activity.row()];
    if (to_ns(by_name[name.row()]) == 0) names.push_back(name);
    by_name[name.row()] += trace.slices.duration[activity.row()];
  }
  const std::size_t count = std::min(kTop, names.size());
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(names.begin(), end, names.end(), [&](StringId a, StringId b) {
    const Duration left = by_name[a.row()];
    const Duration right = by_name[b.row()];
    return left != right ? left > right : trace.text(a) < trace.text(b);
  });
  rows.section("top kernels");
  for (auto name = names.begin(); name != end; ++name) {
    const Duration total = by_name[name->row()];
    if (to_ns(total) == 0) break;
    rows.add(trace.text(*name), ns_value(total), "ns",
             percent_value(static_cast<double>(to_ns(total)), static_cast<double>(to_ns(sum))));
  }
}

Result<Table> compute(const Context& context) {
  Table table;
  Rows rows(table);
  std::optional<OpTable> ops;
  {
    // Half of the work, and independent of the rest.
    const std::jthread helper([&] { ops.emplace(compute_op_table(context, OpGrouping::name)); });
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
              "memcpy, memset.",
          .columns = kColumns,
          .group_by = {},
          .sort = "",
          .example = "fathom overview trace.json.gz",
          .compute = compute};
}

}  // namespace fathom

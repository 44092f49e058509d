// steps: what each step's time went to, per device.
#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/machine/run_usage.h"
#include "analysis/util/row_order.h"
#include "reports/report.h"
#include "reports/step_selection.h"

namespace fathom {
namespace steps_report {
namespace {

/// What a step did on a device.
struct OnDevice {
  std::int32_t device = 0;
  BusyTime time;
  std::uint64_t launches = 0;
  std::uint64_t kernels = 0;
};

struct Row {
  const Step* step = nullptr;  ///< Null for a step that was timed, and not recorded in depth.
  RunStep timed;               ///< That one.
  std::optional<OnDevice> on;  ///< Unset in a trace without device activity.
};
using StepRows = ReportRows<Row, const Trace*>;

std::int64_t number_of(const Row& row) {
  return row.step != nullptr ? row.step->number : row.timed.number;
}
Interval window_of(const Row& row) {
  return row.step != nullptr ? row.step->window : row.timed.window;
}
Interval host_of(const Row& row) { return row.step != nullptr ? row.step->host : row.timed.window; }

/// Time of the window in which that ran and nothing that comes before it.
template <Busy kKind>
std::optional<Duration> exposed(const Row& row) {
  return row.on ? std::optional(row.on->time[kKind]) : std::nullopt;
}

template <Busy kKind>
std::optional<Duration> in_all(const Row& row) {
  return row.on ? std::optional(row.on->time.total_of(kKind)) : std::nullopt;
}

std::optional<Duration> busy(const Row& row) {
  return row.on ? std::optional(row.on->time.busy()) : std::nullopt;
}

std::optional<double> busy_percent(const Row& row) {
  return row.on ? percent_of(row.on->time.busy(), window_of(row).length()) : std::nullopt;
}

/// A member of what it did on the device.
template <auto kMember>
auto on_device(const Row& row) {
  return row.on ? std::optional((*row.on).*kMember) : std::nullopt;
}

constexpr StepRows::Column kColumns[] = {
    {"step", ColumnKind::integer, "",
     "Number of the step: as recorded in ProfilerStep#N, else counted from 0.", by<number_of>},
    {"process", ColumnKind::text, "", "Process the step belongs to.",
     [](const Row& row, const Trace* trace) {
       return row.step == nullptr ? std::nullopt : text_or_null(trace->text(row.step->process));
     },
     true},
    {"device", ColumnKind::integer, "", "Device; null in a trace without device activity.",
     by<on_device<&OnDevice::device>>},
    {"start_ns", ColumnKind::time_ns, "ns", "Start of the window, from the start of the trace.",
     [](const Row& row, const Trace* trace) { return window_of(row).begin - trace->span.begin; }},
    {"host_span_ns", ColumnKind::duration_ns, "ns", "Length of the step's annotation on the host.",
     [](const Row& row) { return host_of(row).length(); }},
    {"window_ns", ColumnKind::duration_ns, "ns",
     "Length of the step: from the end of the step before it to the end of all that it launched.",
     [](const Row& row) { return window_of(row).length(); }},
    {"busy_ns", ColumnKind::duration_ns, "ns",
     "Time of the window with any activity on the device.", by<busy>},
    {"compute_ns", ColumnKind::duration_ns, "ns", "Time with a compute kernel running.",
     by<exposed<Busy::compute>>},
    {"exposed_communication_ns", ColumnKind::duration_ns, "ns",
     "Time with a communication kernel running and no compute kernel.",
     by<exposed<Busy::communication>>},
    {"exposed_memcpy_ns", ColumnKind::duration_ns, "ns", "Time with a copy running and no kernel.",
     by<exposed<Busy::memcpy>>},
    {"exposed_memset_ns", ColumnKind::duration_ns, "ns",
     "Time with a fill running and no kernel or copy.", by<exposed<Busy::memset>>, true},
    {"idle_ns", ColumnKind::duration_ns, "ns",
     "Time of the window without any activity on the device.", by<exposed<Busy::idle>>},
    {"busy_percent", ColumnKind::percent, "percent", "busy_ns of window_ns.", by<busy_percent>},
    {"communication_ns", ColumnKind::duration_ns, "ns",
     "Time with a communication kernel running, hidden under compute or not.",
     by<in_all<Busy::communication>>, true},
    {"memcpy_ns", ColumnKind::duration_ns, "ns",
     "Time with a copy running, hidden under kernels or not.", by<in_all<Busy::memcpy>>, true},
    {"launches", ColumnKind::count, "",
     "Calls in the step's host span that put work onto the device.",
     by<on_device<&OnDevice::launches>>},
    {"kernels", ColumnKind::count, "", "Kernels that start in the window.",
     by<on_device<&OnDevice::kernels>>},
    {"edge", ColumnKind::flag, "",
     "Not whole: holds work launched before it or without a launch, or its start is not known; "
     "left out of statistics.",
     [](const Row& row) { return row.step != nullptr && row.step->edge; }, true},
};

/// One launching call, for the device it put work onto.
struct LaunchEvent {
  StringId process{};
  std::int32_t device = 0;
  Time at;
  SliceId call{};
  friend bool operator==(const LaunchEvent&, const LaunchEvent&) = default;
};

bool before(const LaunchEvent& a, const LaunchEvent& b) {
  return std::tie(a.process, a.device, a.at, a.call) < std::tie(b.process, b.device, b.at, b.call);
}

LaunchEvent event_of(const Trace& trace, SliceId call, std::int32_t device) {
  return {trace.track(call).process, device, trace.slices.start[call.row()], call};
}

/// With one device, every launching call counts for it, whether or not its activity was recorded.
std::vector<LaunchEvent> events_of_the_only(const Context& context, std::int32_t device) {
  const Trace& trace = context.trace;
  const Links& links = context.links();
  std::vector<bool> launches(trace.slices.size());
  for (const SliceId activity : links.activities) {
    const SliceId call = links.launch[activity.row()];
    if (call.valid()) launches[call.row()] = true;
  }
  std::vector<LaunchEvent> events;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId id(row);
    const SliceKind kind = trace.kind(id);
    if (!is_runtime_call(kind)) continue;
    if (launches[row] || starts_activity(links.call_kind(trace, id))) {
      events.push_back(event_of(trace, id, device));
    }
  }
  return events;
}

/// Every launching call once per device that it put work onto, sorted.
std::vector<LaunchEvent> launch_events(const Context& context) {
  const Links& links = context.links();
  const std::vector<DeviceTimeline>& devices = context.timelines().devices;
  std::vector<LaunchEvent> events;
  if (devices.size() == 1) {
    events = events_of_the_only(context, devices.front().device);
  } else {
    for (const SliceId activity : links.activities) {
      const SliceId call = links.launch[activity.row()];
      if (!call.valid()) continue;
      events.push_back(event_of(context.trace, call, context.trace.track(activity).device));
    }
  }
  sort_rows(std::span(events), before);
  events.erase(std::unique(events.begin(), events.end()), events.end());
  return events;
}

/// The same, as if all were of one process: that of a step of no process.
std::vector<LaunchEvent> of_any_process(std::vector<LaunchEvent> events) {
  for (LaunchEvent& event : events) event.process = {};
  sort_rows(std::span(events), before);
  return events;
}

/// How many of sorted events of the step's process are of that device and between the two.
std::uint64_t launches_between(const std::vector<LaunchEvent>& events, const Step& step,
                               std::int32_t device, Time begin, Time end) {
  const auto first_at = [&](Time time) {
    const LaunchEvent bound{step.process, device, time, SliceId(std::size_t{0})};
    return std::ranges::lower_bound(events, bound, before);
  };
  return static_cast<std::uint64_t>(first_at(end) - first_at(begin));
}

std::uint64_t kernels_in(const Trace& trace, const DeviceTimeline& timeline, Interval window) {
  const auto start = [&](SliceId activity) { return trace.slices.start[activity.row()]; };
  const auto begin = std::ranges::lower_bound(timeline.activities, window.begin, {}, start);
  const auto end = std::ranges::lower_bound(timeline.activities, window.end, {}, start);
  return static_cast<std::uint64_t>(std::count_if(
      begin, end, [&](SliceId activity) { return trace.kind(activity) == SliceKind::kernel; }));
}

class RowMaker {
 public:
  RowMaker(const Context& context, std::vector<Row>& rows)
      : context_(context), launches_(launch_events(context)), rows_(rows) {
    const auto of_none = [](const Step& step) { return !step.process.valid(); };
    if (std::ranges::any_of(context.steps().steps, of_none))
      launches_of_any_ = of_any_process(launches_);
  }

  void add(const Step& step) {
    bool any = false;
    for (const DeviceTimeline& timeline : context_.timelines().devices) {
      if (context_.selection.device && timeline.device != *context_.selection.device) continue;
      if (!context_.steps().uses(step, timeline.device)) continue;
      rows_.push_back({.step = &step, .timed = {}, .on = on_device(step, timeline)});
      any = true;
    }
    if (!any && !context_.selection.device) rows_.push_back({.step = &step, .timed = {}, .on = {}});
  }

 private:
  [[nodiscard]] OnDevice on_device(const Step& step, const DeviceTimeline& timeline) const {
    return {.device = timeline.device,
            .time = busy_time(timeline, step.window),
            .launches = launches_in(step, timeline.device),
            .kernels = kernels_in(context_.trace, timeline, step.window)};
  }

  /// Of a step of no process, what begins as it ends counts, too: it may be the whole trace.
  [[nodiscard]] std::uint64_t launches_in(const Step& step, std::int32_t device) const {
    const auto [begin, end] = step.host;
    return step.process.valid()
               ? launches_between(launches_, step, device, begin, end)
               : launches_between(launches_of_any_, step, device, begin, end + duration_ns(1));
  }

  const Context& context_;
  std::vector<LaunchEvent> launches_;
  std::vector<LaunchEvent> launches_of_any_;  // where a step has no process
  std::vector<Row>& rows_;
};

/// Of a session folder: the steps that were timed and not recorded in depth. Windows and devices
/// are of the recorded ones.
std::size_t add_timed(const Context& context, std::vector<Row>& rows) {
  const Selection& selection = context.selection;
  const Steps& steps = context.steps();
  if (selection.window || selection.device || steps.source != StepSource::profiler_step) return 0;
  std::set<std::int64_t> known;
  for (const Step& step : steps.steps) known.insert(step.number);
  const std::size_t before = rows.size();
  for (const RunStep& step : recorded_run_steps(context.trace)) {
    const bool out = selection.steps &&
                     (step.number < selection.steps->first || step.number > selection.steps->last);
    if (!out && !known.contains(step.number))
      rows.push_back({.step = nullptr, .timed = step, .on = {}});
  }
  const std::size_t added = rows.size() - before;
  if (added > 0) {
    std::ranges::stable_sort(rows, {}, [](const Row& row) { return window_of(row).begin; });
  }
  return added;
}

Result<StepRows> compute(const Context& context) {
  StepRows table{.shared = &context.trace};
  RowMaker rows(context, table.rows);
  for (const Step& step : context.steps().steps) {
    if (selects_step(context, step)) rows.add(step);
  }
  if (const std::size_t timed = add_timed(context, table.rows); timed > 0) {
    table.notes.push_back(std::to_string(timed) +
                          " of the steps were timed and not recorded in depth.");
  }
  if (!context.steps().note.empty()) table.notes.push_back(context.steps().note);
  if (context.timelines().devices.empty())
    table.notes.emplace_back("The trace holds no device activity.");
  return table;
}

constexpr Need kNeeds[] = {{StoreTable::work}};
constexpr std::string_view kImportance[] = {"step",
                                            "device",
                                            "window_ns",
                                            "busy_percent",
                                            "idle_ns",
                                            "compute_ns",
                                            "exposed_communication_ns",
                                            "exposed_memcpy_ns",
                                            "host_span_ns",
                                            "kernels",
                                            "launches",
                                            "busy_ns",
                                            "start_ns"};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "steps",
       .title = "Each step's time, per device: compute, communication, copies, idle",
       .doc =
           "One row per step and device. compute_ns, exposed_communication_ns, exposed_memcpy_ns, "
           "exposed_memset_ns and idle_ns sum to window_ns to the nanosecond, and the windows of "
           "consecutive "
           "steps touch. With --window, the steps that overlap it are shown whole. A session "
           "folder "
           "also has the steps that were timed and not recorded in depth: without a device.",
       .group_by = {},
       .sort = "",
       .example = "fathom steps trace.json.gz --steps 3-7",
       .needs = kNeeds,
       .importance = kImportance});
}

}  // namespace
}  // namespace steps_report

Report steps() { return steps_report::report(); }

}  // namespace fathom

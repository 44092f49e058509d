// accounting: where every nanosecond of each device went, by step, phase, module or kernel class.
#include "analysis/accounting/accounting.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analysis/accounting/groups.h"
#include "reports/phase_notes.h"
#include "reports/report.h"
#include "reports/rows.h"
#include "reports/step_selection.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"step", ColumnKind::integer, "", "By step: its number.", true, "step"},
    {"edge", ColumnKind::flag, "",
     "By step: not whole, and left out of everything but this grouping.", true},
    {"phase", ColumnKind::text, "",
     "By phase: data, forward, backward, optimizer, communication or other.", true, "phase"},
    {"module", ColumnKind::name, "", "By module: its path, or (outside of modules).", true,
     "module"},
    {"class", ColumnKind::text, "", "By class: what the computing kernels do.", true, "class"},
    {"tensor_cores", ColumnKind::flag, "", "By class: whether their names show matrix units.", true,
     "class"},
    {"device", ColumnKind::integer, "",
     "Device; null for the main thread of a trace without device activity."},
    {"worst", ColumnKind::flag, "",
     "With several devices: the one that is busy for the least of its time.", true},
    {"bucket", ColumnKind::text, "",
     "Of a device: compute, communication, memcpy, memset (busy); input, allocation, sync, "
     "dispatch, python, dependency, launch latency, device wait, host unknown (idle). Of the main "
     "thread: input, forward, backward, optimizer, communication, waiting, other operators, "
     "python."},
    {"busy", ColumnKind::flag, "", "Whether the device is busy in it; null for the main thread.",
     true},
    {"time_ns", ColumnKind::duration_ns, "ns", "Time in this bucket."},
    {"per_step_ns", ColumnKind::duration_ns, "ns", "time_ns over the number of steps."},
    {"percent", ColumnKind::percent, "percent",
     "time_ns of the device's time in all rows; by step, of the step."},
    {"group_ns", ColumnKind::duration_ns, "ns",
     "Time of all buckets of the device's step, phase, module or class."},
};

/// The columns that tell groups apart, which come first.
constexpr std::size_t kKeyColumns = 6;

constexpr std::string_view kGroupBy[] = {"device", "step", "phase", "module", "class"};

constexpr Phase kPhaseOrder[] = {Phase::data,      Phase::forward,       Phase::backward,
                                 Phase::optimizer, Phase::communication, Phase::other};

AccountBy grouping(const Context& context) {
  const auto at = std::ranges::find(kGroupBy, context.options.group_by);
  return at == std::end(kGroupBy) ? AccountBy::device
                                  : static_cast<AccountBy>(at - std::begin(kGroupBy));
}

/// What is accounted for: the selected steps that count (all of them by step), or the window. Where
/// no step is of a process that uses the device, the selected stretch of the trace.
std::vector<AccountWindow> windows_of(const Context& context, AccountBy by,
                                      std::optional<std::int32_t> device) {
  const Steps& steps = context.steps();
  if (by != AccountBy::step && context.selection.window) return {{.interval = context.window()}};
  std::vector<AccountWindow> all;
  for (const Step& step : steps.steps) {
    if (!selects_step(context, step) || (device && !steps.uses(step, *device))) continue;
    all.push_back({.interval = step.window, .step = &step});
  }
  if (by == AccountBy::step) return all;
  if (all.empty()) return {{.interval = context.window()}};
  std::vector<AccountWindow> whole = all;
  std::erase_if(whole, [](const AccountWindow& window) { return window.step->edge; });
  return whole.empty() ? all : whole;
}

Duration length(const std::vector<AccountWindow>& windows) {
  Duration sum{};
  for (const AccountWindow& window : windows) sum += window.interval.length();
  return sum;
}

/// One bucket of a group, of a device or of the main thread.
struct Part {
  std::string_view bucket;
  Value busy;
  Duration time;
};

std::vector<Part> parts_of(const AccountGroup& group) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    parts.push_back({to_string(bucket), !is_idle(bucket), group.time.time[i]});
  }
  for (std::size_t i = 0; i < kHostBuckets; ++i) {
    parts.push_back({to_string(static_cast<HostBucket>(i)), {}, group.host[i]});
  }
  std::erase_if(parts, [](const Part& part) { return part.time == Duration{}; });
  return parts;
}

Duration total(const AccountGroup& group) {
  Duration sum = group.time.total();
  for (const Duration time : group.host) sum += time;
  return sum;
}

/// Steps by time, phases in the order of a step, the rest by what they cost.
void order(AccountBy by, std::vector<AccountGroup>& groups) {
  if (by == AccountBy::phase) {
    std::ranges::stable_sort(groups, {}, [](const AccountGroup& group) {
      return std::ranges::find(kPhaseOrder, static_cast<Phase>(group.key));
    });
  } else if (by == AccountBy::module || by == AccountBy::kernel_class) {
    std::ranges::stable_sort(groups, std::ranges::greater(), total);
  }
}

class Rows {
 public:
  Rows(const Context& context, AccountBy by, Table& table)
      : context_(context), by_(by), table_(table) {}

  void add(const Value& device, const Value& worst, const std::vector<AccountWindow>& windows,
           std::vector<AccountGroup> groups) {
    order(by_, groups);
    const double all = static_cast<double>(to_ns(length(windows)));
    const std::size_t steps = windows.empty() || windows.front().step == nullptr ? 0
                              : by_ == AccountBy::step                           ? 1
                                                                                 : windows.size();
    for (const AccountGroup& group : groups) {
      const Duration of_group = total(group);
      const double whole = by_ == AccountBy::step ? static_cast<double>(to_ns(of_group)) : all;
      for (const Part& part : parts_of(group)) {
        std::vector<Value> row = key_values(group.key, windows);
        row.push_back(device);
        row.push_back(worst);
        row.push_back(text_value(part.bucket));
        row.push_back(part.busy);
        row.push_back(ns_value(part.time));
        row.push_back(steps == 0 ? Value()
                                 : ns_value(part.time / static_cast<std::int64_t>(steps)));
        row.push_back(percent_value(static_cast<double>(to_ns(part.time)), whole));
        row.push_back(ns_value(of_group));
        table_.rows.push_back(std::move(row));
      }
    }
  }

 private:
  /// The columns from `step` to `tensor_cores`.
  [[nodiscard]] std::vector<Value> key_values(std::uint32_t key,
                                              const std::vector<AccountWindow>& windows) const {
    std::vector<Value> values(kKeyColumns);
    switch (by_) {
      case AccountBy::device:
        break;
      case AccountBy::step:
        values[0] = int_value(windows[key].step->number);
        values[1] = windows[key].step->edge;
        break;
      case AccountBy::phase:
        values[2] = text_value(to_string(static_cast<Phase>(key)));
        break;
      case AccountBy::module:
        values[3] = key == Modules::kTop ? text_value("(outside of modules)")
                                         : text_value(context_.modules().path(context_.trace, key));
        break;
      case AccountBy::kernel_class:
        if (key == kNoClass) break;
        values[4] = text_value(to_string(static_cast<KernelClass>(key / 2)));
        values[5] = key % 2 == 1;
        break;
    }
    return values;
  }

  const Context& context_;
  AccountBy by_;
  Table& table_;
};

/// The device that is busy for the smallest share of its time, of several.
std::optional<std::int32_t> worst_device(const Context& context) {
  const std::vector<DeviceTimeline>& devices = context.timelines().devices;
  if (devices.size() < 2) return {};
  std::optional<std::int32_t> worst;
  double least = 0;
  for (const DeviceTimeline& timeline : devices) {
    Duration busy{};
    const auto windows = windows_of(context, AccountBy::device, timeline.device);
    for (const AccountWindow& window : windows) busy += busy_time(timeline, window.interval).busy();
    const double share = static_cast<double>(to_ns(busy)) /
                         std::max(1.0, static_cast<double>(to_ns(length(windows))));
    if (worst && share >= least) continue;
    worst = timeline.device;
    least = share;
  }
  return worst;
}

void add_devices(const Context& context, AccountBy by, Table& table) {
  Rows rows(context, by, table);
  const std::optional<std::int32_t> worst = worst_device(context);
  for (const DeviceTimeline& timeline : context.timelines().devices) {
    const std::int32_t device = timeline.device;
    if (context.selection.device && device != *context.selection.device) continue;
    const std::vector<AccountWindow> windows = windows_of(context, by, device);
    rows.add(int_value(device), worst ? Value(device == *worst) : Value(), windows,
             group_device(context, device, by, windows));
  }
  if (worst) {
    table.notes.push_back("Device " + std::to_string(*worst) +
                          " is busy for the least of its time.");
  }
  const Steps& steps = context.steps();
  const auto uses_any = [&](const Step& step) {
    return std::ranges::any_of(context.timelines().devices, [&](const DeviceTimeline& timeline) {
      return steps.uses(step, timeline.device);
    });
  };
  if (std::ranges::none_of(steps.steps, uses_any)) {
    table.notes.emplace_back(
        "No step is of a process that uses a device: the whole time is accounted for.");
  }
}

void add_main_thread(const Context& context, AccountBy by, Table& table) {
  const TrackId main = context.accounting().main_thread;
  if (!main.valid() || context.selection.device) return;
  const std::vector<AccountWindow> windows = windows_of(context, by, {});
  Rows(context, by, table).add({}, {}, windows, group_main_thread(context, by, windows));
  const Track& track = context.trace.tracks[main.row()];
  const std::string_view name = context.trace.text(track.name);
  table.notes.push_back(
      "The trace holds no device activity: this is the time of its main thread, " +
      std::string(name.empty() ? context.trace.text(track.thread) : name) + ".");
  if (by == AccountBy::kernel_class)
    table.notes.emplace_back("Without kernels there are no classes.");
}

void add_notes(const Context& context, AccountBy by, Table& table) {
  if (!context.steps().note.empty()) table.notes.push_back(context.steps().note);
  if (by == AccountBy::phase) table.notes.push_back(phase_note(context.phases()));
}

Result<Table> compute(const Context& context) {
  Table table;
  const AccountBy by = grouping(context);
  if (by == AccountBy::module && context.modules().nodes.size() == 1) {
    table.notes.emplace_back(
        "No nn.Module frames were recorded: profile with with_stack=True to see modules.");
    return table;
  }
  if (context.timelines().devices.empty()) {
    add_main_thread(context, by, table);
  } else {
    add_devices(context, by, table);
  }
  add_notes(context, by, table);
  return table;
}

constexpr std::string_view kImportance[] = {"device",  "bucket",      "time_ns",
                                            "percent", "per_step_ns", "group_ns"};

}  // namespace

Report accounting() {
  return {
      .id = "accounting",
      .title = "Where every nanosecond of each device went: work, and the causes of idleness",
      .doc =
          "A row per device and bucket over the steps that count; --group-by splits it by step, "
          "phase, module or kernel class. Every instant is in one bucket, so time_ns sums to the "
          "windows of the steps to the nanosecond; buckets without time are left out. Idle time "
          "is explained by what the thread that launched the next activity did before. A trace "
          "without device activity is accounted for on its main thread. With --window, that "
          "stretch is accounted for instead of steps.",
      .columns = kColumns,
      .group_by = kGroupBy,
      .sort = "",
      .example = "fathom accounting trace.json.gz --group-by phase",
      .compute = compute,
      .importance = kImportance};
}

}  // namespace fathom

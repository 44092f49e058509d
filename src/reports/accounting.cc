// accounting: where every nanosecond of each device went, by step, phase, module or kernel class.
#include "analysis/accounting/accounting.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/accounting/groups.h"
#include "reports/gap_notes.h"
#include "reports/phase_notes.h"
#include "reports/report.h"
#include "reports/step_selection.h"

namespace fathom {
namespace accounting_report {
namespace {

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
  std::optional<bool> busy;
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

/// A bucket of a group of a device, or of the main thread.
struct Row {
  std::uint32_t key = 0;       ///< Of the group.
  const Step* step = nullptr;  ///< The group, by step.
  std::optional<std::int32_t> device;
  std::optional<bool> worst;
  Part part;
  std::optional<Duration> per_step;
  double whole = 0;  ///< What the percentage is of, in ns.
  Duration group{};  ///< All buckets of the group.
};

struct Shared {
  const Context* context = nullptr;
  AccountBy by = AccountBy::device;
};
using Accounts = ReportRows<Row, Shared>;

std::optional<std::int64_t> step_number(const Row& row) {
  return row.step == nullptr ? std::nullopt : std::optional(row.step->number);
}

std::optional<bool> step_edge(const Row& row) {
  return row.step == nullptr ? std::nullopt : std::optional(row.step->edge);
}

std::optional<std::string> phase_of(const Row& row, const Shared& shared) {
  if (shared.by != AccountBy::phase) return {};
  if (row.key < kPhases) return std::string(to_string(static_cast<Phase>(row.key)));
  const StringId range = shared.context->phases().ranges[row.key - kPhases].name;
  return std::string(shared.context->trace.text(range)) + " (range of the program)";
}

std::optional<std::string> module_of(const Row& row, const Shared& shared) {
  if (shared.by != AccountBy::module) return {};
  if (row.key == Modules::kTop) return "(outside of modules)";
  return shared.context->modules().path(shared.context->trace, row.key);
}

bool has_class(const Row& row, const Shared& shared) {
  return shared.by == AccountBy::kernel_class && row.key != kNoClass;
}

std::optional<std::string_view> class_of(const Row& row, const Shared& shared) {
  if (!has_class(row, shared)) return {};
  return to_string(static_cast<KernelClass>(row.key / 2));
}

std::optional<bool> tensor_cores(const Row& row, const Shared& shared) {
  return has_class(row, shared) ? std::optional(row.key % 2 == 1) : std::nullopt;
}

std::optional<double> percent(const Row& row) {
  return percent_of(static_cast<double>(to_ns(row.part.time)), row.whole);
}

constexpr Accounts::Column kColumns[] = {
    {"step", ColumnKind::integer, "", "By step: its number.", by<step_number>, true, "step"},
    {"edge", ColumnKind::flag, "",
     "By step: not whole, and left out of everything but this grouping.", by<step_edge>, true},
    {"phase", ColumnKind::text, "",
     "By phase: data, forward, backward, optimizer, communication or other; or the name of a range "
     "of the program that lies before the forward or after the backward pass.",
     by<phase_of>, true, "phase"},
    {"module", ColumnKind::name, "", "By module: its path, or (outside of modules).", by<module_of>,
     true, "module"},
    {"class", ColumnKind::text, "", "By class: what the computing kernels do.", by<class_of>, true,
     "class"},
    {"tensor_cores", ColumnKind::flag, "", "By class: whether their names show matrix units.",
     by<tensor_cores>, true, "class"},
    {"device", ColumnKind::integer, "",
     "Device; null for the main thread of a trace without device activity.", by<&Row::device>},
    {"worst", ColumnKind::flag, "",
     "With several devices: the one that is busy for the least of its time.", by<&Row::worst>,
     true},
    {"bucket", ColumnKind::text, "",
     "Of a device: compute, communication, memcpy, memset (busy); input, allocation, sync, "
     "dispatch, python, dependency, launch latency, device wait, host unknown, warm-up (idle). Of "
     "the main thread: input, forward, backward, optimizer, communication, waiting, other "
     "operators, python, warm-up.",
     [](const Row& row) { return row.part.bucket; }},
    {"busy", ColumnKind::flag, "", "Whether the device is busy in it; null for the main thread.",
     [](const Row& row) { return row.part.busy; }, true},
    {"time_ns", ColumnKind::duration_ns, "ns", "Time in this bucket.",
     [](const Row& row) { return row.part.time; }},
    {"per_step_ns", ColumnKind::duration_ns, "ns", "time_ns over the number of steps.",
     by<&Row::per_step>},
    {"percent", ColumnKind::percent, "percent",
     "time_ns of the device's time in all rows; by step, of the step.", by<percent>},
    {"group_ns", ColumnKind::duration_ns, "ns",
     "Time of all buckets of the device's step, phase, module or class.", by<&Row::group>},
};

/// Whose time is added.
struct Owner {
  std::optional<std::int32_t> device;  ///< Unset: the main thread.
  std::optional<bool> worst;
};

void add_groups(const Owner& owner, const std::vector<AccountWindow>& windows,
                std::vector<AccountGroup> groups, Accounts& accounts) {
  const AccountBy by = accounts.shared.by;
  order(by, groups);
  const double all = static_cast<double>(to_ns(length(windows)));
  const std::size_t steps = windows.empty() || windows.front().step == nullptr ? 0
                            : by == AccountBy::step                            ? 1
                                                                               : windows.size();
  for (const AccountGroup& group : groups) {
    Row row{.key = group.key,
            .step = by == AccountBy::step ? windows[group.key].step : nullptr,
            .device = owner.device,
            .worst = owner.worst,
            .part = {},
            .per_step = {},
            .whole = all,
            .group = total(group)};
    if (by == AccountBy::step) row.whole = static_cast<double>(to_ns(row.group));
    for (const Part& part : parts_of(group)) {
      row.part = part;
      if (steps != 0) row.per_step = part.time / static_cast<std::int64_t>(steps);
      accounts.rows.push_back(row);
    }
  }
}

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

void add_devices(const Context& context, Accounts& accounts) {
  const AccountBy by = accounts.shared.by;
  const std::optional<std::int32_t> worst = worst_device(context);
  for (const DeviceTimeline& timeline : context.timelines().devices) {
    const std::int32_t device = timeline.device;
    if (context.selection.device && device != *context.selection.device) continue;
    const std::vector<AccountWindow> windows = windows_of(context, by, device);
    const Owner owner{device, worst ? std::optional(device == *worst) : std::nullopt};
    add_groups(owner, windows, group_device(context, device, by, windows), accounts);
  }
  if (worst) {
    accounts.notes.push_back("Device " + std::to_string(*worst) +
                             " is busy for the least of its time.");
  }
  const Steps& steps = context.steps();
  const auto uses_any = [&](const Step& step) {
    return std::ranges::any_of(context.timelines().devices, [&](const DeviceTimeline& timeline) {
      return steps.uses(step, timeline.device);
    });
  };
  if (std::ranges::none_of(steps.steps, uses_any)) {
    accounts.notes.emplace_back(
        "No step is of a process that uses a device: the whole time is accounted for.");
  }
}

void add_main_thread(const Context& context, Accounts& accounts) {
  const AccountBy by = accounts.shared.by;
  const TrackId main = context.accounting().main_thread;
  if (!main.valid()) {
    accounts.notes.emplace_back(
        "The trace holds no device activity and no work of a thread: there is no time to account "
        "for.");
    return;
  }
  if (context.selection.device) return;
  const std::vector<AccountWindow> windows = windows_of(context, by, {});
  add_groups({}, windows, group_main_thread(context, by, windows), accounts);
  const Track& track = context.trace.tracks[main.row()];
  const std::string_view name = context.trace.text(track.name);
  accounts.notes.push_back(
      "The trace holds no device activity: this is the time of its main thread, " +
      std::string(name.empty() ? context.trace.text(track.thread) : name) + ".");
  if (by == AccountBy::kernel_class)
    accounts.notes.emplace_back("Without kernels there are no classes.");
}

void add_notes(const Context& context, Accounts& accounts) {
  if (!context.steps().note.empty()) accounts.notes.push_back(context.steps().note);
  if (accounts.shared.by == AccountBy::phase)
    accounts.notes.push_back(phase_note(context.phases()));
  note_unasked_gaps(context, accounts.notes);
}

Result<Accounts> compute(const Context& context) {
  Accounts accounts{.shared = {&context, grouping(context)}};
  if (accounts.shared.by == AccountBy::module) {
    if (auto reason = missing(context, {.table = StoreTable::module_frames})) {
      accounts.notes.push_back(std::move(*reason));
      return accounts;
    }
  }
  if (context.timelines().devices.empty()) {
    add_main_thread(context, accounts);
  } else {
    add_devices(context, accounts);
  }
  add_notes(context, accounts);
  return accounts;
}

constexpr Need kNeeds[] = {{StoreTable::work}};
constexpr std::string_view kImportance[] = {"device",  "bucket",      "time_ns",
                                            "percent", "per_step_ns", "group_ns"};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "accounting",
       .title = "Where every nanosecond of each device went: work, and the causes of idleness",
       .doc =
           "A row per device and bucket over the steps that count; --group-by splits it by step, "
           "phase, module or kernel class. Every instant is in one bucket, so time_ns sums to the "
           "windows of the steps to the nanosecond; buckets without time are left out. Idle time "
           "is explained by what the thread that launched the next activity did before. A trace "
           "without device activity is accounted for on its main thread. With --window, that "
           "stretch is accounted for instead of steps.",
       .group_by = kGroupBy,
       .sort = "",
       .example = "fathom accounting trace.json.gz --group-by phase",
       .needs = kNeeds,
       .importance = kImportance});
}

}  // namespace
}  // namespace accounting_report

Report accounting() { return accounting_report::report(); }

}  // namespace fathom

// loader: what the training loop waited for, and what the workers did meanwhile.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/accounting/accounting.h"
#include "reports/loader_transforms.h"
#include "reports/report.h"
#include "stats/median_interval.h"

namespace fathom {
namespace loader_report {
namespace {

constexpr std::string_view kGroupBy[] = {"process", "batch", "transform"};

enum Work : std::uint8_t { fetch, sample, collate, pin };
constexpr std::array<std::string_view, 4> kCategories = {"loader.fetch", "loader.sample",
                                                         "loader.collate", "loader.pin"};

std::optional<Work> work_of(std::string_view category) {
  const auto* const at = std::ranges::find(kCategories, category);
  if (at == kCategories.end()) return {};
  return static_cast<Work>(at - kCategories.begin());
}

struct Group {
  std::int64_t pid = kAbsent;
  std::int64_t batch = kAbsent;
  std::array<std::vector<std::int64_t>, kCategories.size()> durations;  ///< By Work; sorted.
  // Of a row of --group-by transform, which has nothing of the above but the process:
  std::optional<Work> part = {};
  Transform transform = {};  ///< Without a name: the rest of that part.
  std::uint64_t samples = 0;
  Duration working{};              ///< Of its process: samples, batches and pinning.
  std::optional<Duration> idle{};  ///< Of devices.
};

struct Shared {
  const Trace* trace = nullptr;
};
using Loaders = ReportRows<Group, Shared>;

/// Empty where it is not known.
std::string process_of(const Group& group) {
  return group.pid == kAbsent ? std::string() : std::to_string(group.pid);
}

std::optional<std::string_view> role_of(const Group& group, const Shared& shared) {
  const std::vector<ProcessRun>& runs = shared.trace->process_runs;
  const auto at = std::ranges::lower_bound(runs, group.pid, {}, &ProcessRun::pid);
  if (at == runs.end() || at->pid != group.pid) return {};
  return text_or_null(shared.trace->text(at->role));
}

template <Work kWork>
std::optional<std::uint64_t> count_of(const Group& group) {
  return group.part ? std::nullopt : std::optional(group.durations[kWork].size());
}

std::optional<std::string> part_of(const Group& group) {
  if (!group.part) return {};
  if (!group.transform.name.empty()) return std::string(group.transform.name);
  constexpr std::array<std::string_view, kCategories.size()> kNames = {
      "(wait)", "(rest of samples)", "(collate)", "(pin)"};
  return std::string(kNames[*group.part]);
}
std::optional<std::string> location_of(const Group& group) {
  const Transform& transform = group.transform;
  if (transform.file.empty() || transform.file == "~") return {};
  return std::string(transform.file) + ":" + std::to_string(transform.line);
}
template <auto kMember>
auto of_part(const Group& group) {
  return group.part ? std::optional(group.transform.*kMember) : std::nullopt;
}
std::optional<std::int64_t> per_sample(const Group& group) {
  if (!group.part || group.samples == 0) return {};
  const auto samples = static_cast<double>(group.samples);
  return std::llround(static_cast<double>(to_ns(group.transform.time)) / samples);
}

std::optional<std::int64_t> waited(const Group& group) {
  const std::vector<std::int64_t>& waits = group.durations[fetch];
  if (waits.empty()) return {};
  return std::accumulate(waits.begin(), waits.end(), std::int64_t{0});
}

template <Work kWork>
std::optional<std::int64_t> mean_of(const Group& group) {
  const std::vector<std::int64_t>& durations = group.durations[kWork];
  if (durations.empty()) return {};
  double total = 0;
  for (const std::int64_t duration : durations) total += static_cast<double>(duration);
  return std::llround(total / static_cast<double>(durations.size()));
}

/// The 95th percentile, a duration that occurred. Unset where there are too few to show a tail.
template <Work kWork>
std::optional<std::int64_t> p95_of(const Group& group) {
  const std::vector<std::int64_t>& sorted = group.durations[kWork];
  if (sorted.size() < samples_for_quantile(0.95)) return {};
  const auto count = static_cast<double>(sorted.size());
  return sorted[static_cast<std::size_t>(std::ceil(0.95 * count)) - 1];
}

constexpr Loaders::Column kColumns[] = {
    {"process", ColumnKind::text, "", "The pid of the process.", by<process_of>},
    {"role", ColumnKind::text, "", "main, rank, loader-worker or child.", by<role_of>},
    {"batch", ColumnKind::integer, "", "Number of the batch, with --group-by batch.",
     [](const Group& group) { return int_or_null(group.batch); }, false, "batch"},
    {"fetches", ColumnKind::count, "", "How often it waited for a batch.", by<count_of<fetch>>},
    {"wait_ns", ColumnKind::duration_ns, "ns", "How long it waited for batches.", by<waited>},
    {"wait_mean_ns", ColumnKind::duration_ns, "ns", "Mean wait for a batch, rounded.",
     by<mean_of<fetch>>},
    {"wait_p95_ns", ColumnKind::duration_ns, "ns",
     "19 of 20 waits are at most this long. Empty below 59 waits.", by<p95_of<fetch>>},
    {"samples", ColumnKind::count, "", "How many samples it made.", by<count_of<sample>>},
    {"sample_mean_ns", ColumnKind::duration_ns, "ns", "Mean time for a sample, rounded.",
     by<mean_of<sample>>},
    {"sample_p95_ns", ColumnKind::duration_ns, "ns",
     "19 of 20 samples take at most this. Empty below 59 samples.", by<p95_of<sample>>},
    {"collate_mean_ns", ColumnKind::duration_ns, "ns",
     "Mean time to make a batch of its samples, rounded.", by<mean_of<collate>>},
    {"collate_p95_ns", ColumnKind::duration_ns, "ns", "19 of 20 take at most this. Empty below 59.",
     by<p95_of<collate>>, true},
    {"pin_mean_ns", ColumnKind::duration_ns, "ns", "Mean time to pin a batch, rounded.",
     by<mean_of<pin>>},
    {"pin_p95_ns", ColumnKind::duration_ns, "ns", "19 of 20 take at most this. Empty below 59.",
     by<p95_of<pin>>, true},
    {"transform", ColumnKind::name, "",
     "With --group-by transform: what the data set's function called, or what else it was.",
     by<part_of>, true, "transform"},
    {"location", ColumnKind::name, "", "File and line where that function is defined.",
     by<location_of>, true, "transform"},
    {"calls", ColumnKind::count, "", "How often it was called, or done.",
     by<of_part<&Transform::calls>>, true, "transform"},
    {"time_ns", ColumnKind::duration_ns, "ns", "How long it took, with all that it called.",
     by<of_part<&Transform::time>>, true, "transform"},
    {"per_sample_ns", ColumnKind::duration_ns, "ns", "The same per sample of the process, rounded.",
     by<per_sample>, true, "transform"},
    {"share_percent", ColumnKind::percent, "percent",
     "The same, of all that the process did for samples and batches.",
     [](const Group& group) {
       return group.part ? percent_of(group.transform.time, group.working) : std::nullopt;
     },
     true, "transform"},
    {"device_idle_ns", ColumnKind::duration_ns, "ns",
     "Its share, by time, of the idle time of devices in which the loop waited for a batch.",
     by<&Group::idle>, true, "transform"},
};

/// By process and, where asked for, number of the batch.
using Key = std::pair<std::int64_t, std::int64_t>;

/// What happened outside of the recorded span is of the run as well.
void add_beside(const Trace& trace, bool by_batch, std::map<Key, Group>& groups) {
  for (const TimedSlice& slice : trace.timed) {
    const std::optional<Work> work = work_of(trace.text(slice.category));
    // What the span cuts is in the trace.
    const bool cut =
        slice.start < trace.span.end && slice.start + slice.duration > trace.span.begin;
    if (!work || cut || (by_batch && *work != fetch)) continue;
    const Key key(slice.pid, by_batch ? slice.number : kAbsent);
    groups[key].durations[*work].push_back(to_ns(slice.duration));
  }
}

Duration sum_of(const std::vector<std::int64_t>& durations) {
  return duration_ns(std::accumulate(durations.begin(), durations.end(), std::int64_t{0}));
}

/// What each process did for samples and batches, in rows that sum to its time for them.
class ByTransform {
 public:
  ByTransform(const Context& context, const std::map<Key, Group>& groups) : context_(context) {
    const bool whole = !context.selection.steps && !context.selection.window;
    if (whole) transforms_ = transforms_of(context.trace);
    if (!whole)
      notes_.emplace_back(
          "Functions and their callers are known of the whole run alone; leave out --steps and "
          "--window for them.");
    else if (transforms_.empty())
      notes_.emplace_back(
          "No function of a data set is known: fathom run --with functions records them, with "
          "those that called them.");
    for (const auto& [key, group] : groups) add(key.first, group);
    share_idle();
    if (rows_.empty())
      notes_.emplace_back("No process was seen to make samples or batches, only waits for them.");
  }
  [[nodiscard]] std::vector<Group> rows() { return std::move(rows_); }
  [[nodiscard]] std::vector<std::string> notes() { return std::move(notes_); }

 private:
  void add(std::int64_t pid, const Group& group) {
    const std::size_t first = rows_.size();
    Duration working{};
    for (const Work work : {sample, collate, pin}) working += sum_of(group.durations[work]);
    const auto row = [&](Work work, const Transform& transform) {
      Group made;
      made.pid = pid;
      made.part = work;
      made.transform = transform;
      made.samples = group.durations[sample].size();
      made.working = working;
      rows_.push_back(std::move(made));
    };
    const auto part = [&](Work work, Duration time) {
      row(work, {.calls = group.durations[work].size(), .time = time});
    };
    if (!group.durations[sample].empty()) {
      Duration rest = sum_of(group.durations[sample]);
      const auto found = transforms_.find(pid);
      if (found != transforms_.end()) {
        for (const Transform& transform : found->second) {
          row(sample, transform);
          rest -= std::min(rest, std::max(Duration{}, transform.time));
        }
      }
      part(sample, rest);
    }
    for (const Work work : {collate, pin})
      if (!group.durations[work].empty()) part(work, sum_of(group.durations[work]));
    std::stable_sort(rows_.begin() + static_cast<std::ptrdiff_t>(first), rows_.end(),
                     [](const Group& one, const Group& other) {
                       return one.transform.time > other.transform.time;
                     });
  }

  /// All that made batches caused the waiting for them, by the time that it took.
  void share_idle() {
    const Accounting& accounting = context_.accounting();
    if (accounting.devices.empty()) return;
    Duration idle{};
    for (const DeviceAccounting& device : accounting.devices) {
      if (context_.selection.device && device.device != *context_.selection.device) continue;
      idle += account(context_, accounting, device.device, context_.window())[Bucket::input];
    }
    double all = 0;
    for (const Group& row : rows_) all += static_cast<double>(to_ns(row.transform.time));
    for (Group& row : rows_) {
      const double share = all > 0 ? static_cast<double>(to_ns(row.transform.time)) / all : 0.0;
      row.idle = duration_ns(std::llround(static_cast<double>(to_ns(idle)) * share));
    }
  }

  const Context& context_;
  std::map<std::int64_t, std::vector<Transform>> transforms_;
  std::vector<Group> rows_;
  std::vector<std::string> notes_;
};

Result<Loaders> compute(const Context& context) {
  const Trace& trace = context.trace;
  const Selector selector = context.selector();
  const bool by_batch = context.options.group_by == "batch";
  std::vector<std::optional<Work>> works;
  works.reserve(trace.categories.size());
  for (const Category& category : trace.categories)
    works.push_back(work_of(trace.text(category.name)));
  std::map<Key, Group> groups;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    const std::optional<Work> work = works[trace.slices.category[row]];
    if (!work || !selector.host(trace, slice) || (by_batch && *work != fetch)) continue;
    const Key key(trace.track(slice).pid, by_batch ? trace.number(slice) : kAbsent);
    groups[key].durations[*work].push_back(to_ns(trace.slices.duration[row]));
  }
  if (!context.selection.steps && !context.selection.window) {
    add_beside(trace, by_batch, groups);
  }
  Loaders loaders{.shared = {&trace}};
  if (context.options.group_by == "transform") {
    ByTransform by(context, groups);
    loaders.rows = by.rows();
    loaders.notes = by.notes();
    return loaders;
  }
  for (auto& [key, group] : groups) {
    std::tie(group.pid, group.batch) = key;
    for (std::vector<std::int64_t>& durations : group.durations) std::ranges::sort(durations);
    loaders.rows.push_back(std::move(group));
  }
  return loaders;
}

constexpr std::string_view kImportance[] = {
    "process", "wait_ns",       "samples",       "sample_mean_ns",  "fetches",     "wait_mean_ns",
    "role",    "wait_p95_ns",   "sample_p95_ns", "collate_mean_ns", "pin_mean_ns", "transform",
    "time_ns", "per_sample_ns", "share_percent", "device_idle_ns",  "calls",       "location"};

constexpr Need kNeeds[] = {{StoreTable::loader_slices}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "loader",
       .title = "Data loading: waits of the loop, and the time of samples in the workers",
       .doc = "One row per process that waits for batches or makes them; --group-by batch: one row "
              "per batch; --group-by transform: one row per process and function that the data "
              "set's own called, with what else samples and batches took. A worker makes samples "
              "and collates them while the loop does other "
              "things; only what the loop waits for is lost. Of a session folder, all of the "
              "run counts, with --steps or --window what was recorded in depth.",
       .group_by = kGroupBy,
       .sort = "",
       .example = "fathom loader fathom-runs/20260101-120000-train --group-by batch",
       .needs = kNeeds,
       .importance = kImportance});
}

}  // namespace
}  // namespace loader_report

Report loader() { return loader_report::report(); }

}  // namespace fathom

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

#include "reports/report.h"
#include "stats/median_interval.h"

namespace fathom {
namespace loader_report {
namespace {

constexpr std::string_view kGroupBy[] = {"process", "batch"};

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
std::uint64_t count_of(const Group& group) {
  return group.durations[kWork].size();
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
  for (auto& [key, group] : groups) {
    std::tie(group.pid, group.batch) = key;
    for (std::vector<std::int64_t>& durations : group.durations) std::ranges::sort(durations);
    loaders.rows.push_back(std::move(group));
  }
  return loaders;
}

constexpr std::string_view kImportance[] = {
    "process", "wait_ns",     "samples",       "sample_mean_ns",  "fetches",    "wait_mean_ns",
    "role",    "wait_p95_ns", "sample_p95_ns", "collate_mean_ns", "pin_mean_ns"};

constexpr Need kNeeds[] = {{StoreTable::loader_slices}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "loader",
       .title = "Data loading: waits of the loop, and the time of samples in the workers",
       .doc = "One row per process that waits for batches or makes them; --group-by batch: one row "
              "per batch. A worker makes samples and collates them while the loop does other "
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

// loader: what the training loop waited for, and what the workers did meanwhile.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"process", ColumnKind::text, "", "The pid of the process."},
    {"role", ColumnKind::text, "", "main, rank, loader-worker or child."},
    {"batch", ColumnKind::integer, "", "Number of the batch, with --group-by batch.", false,
     "batch"},
    {"fetches", ColumnKind::count, "", "How often it waited for a batch."},
    {"wait_ns", ColumnKind::duration_ns, "ns", "How long it waited for batches."},
    {"wait_mean_ns", ColumnKind::duration_ns, "ns", "Mean wait for a batch, rounded."},
    {"wait_p95_ns", ColumnKind::duration_ns, "ns", "19 of 20 waits are at most this long."},
    {"samples", ColumnKind::count, "", "How many samples it made."},
    {"sample_mean_ns", ColumnKind::duration_ns, "ns", "Mean time for a sample, rounded."},
    {"sample_p95_ns", ColumnKind::duration_ns, "ns", "19 of 20 samples take at most this."},
    {"collate_mean_ns", ColumnKind::duration_ns, "ns",
     "Mean time to make a batch of its samples, rounded."},
    {"collate_p95_ns", ColumnKind::duration_ns, "ns", "19 of 20 take at most this.", true},
    {"pin_mean_ns", ColumnKind::duration_ns, "ns", "Mean time to pin a batch, rounded."},
    {"pin_p95_ns", ColumnKind::duration_ns, "ns", "19 of 20 take at most this.", true},
};

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
  std::array<std::vector<std::int64_t>, kCategories.size()> durations;
};

std::int64_t sum(const std::vector<std::int64_t>& durations) {
  return std::accumulate(durations.begin(), durations.end(), std::int64_t{0});
}

/// Mean and 95th percentile (a duration that occurred); null without any.
void add_summary(std::vector<std::int64_t>& durations, std::vector<Value>& row) {
  if (durations.empty()) {
    row.insert(row.end(), 2, Value());
    return;
  }
  std::ranges::sort(durations);
  const auto count = static_cast<double>(durations.size());
  double total = 0;
  for (const std::int64_t duration : durations) total += static_cast<double>(duration);
  row.push_back(int_value(std::llround(total / count)));
  row.push_back(int_value(durations[static_cast<std::size_t>(std::ceil(0.95 * count)) - 1]));
}

/// By process and, where asked for, number of the batch.
using Key = std::pair<std::int64_t, std::int64_t>;

Value role_of(const Trace& trace, std::int64_t pid) {
  const auto at = std::ranges::lower_bound(trace.process_runs, pid, {}, &ProcessRun::pid);
  if (at == trace.process_runs.end() || at->pid != pid) return {};
  return text_or_null(trace.text(at->role));
}

std::vector<Value> row_of(const Trace& trace, const Key& key, Group& group) {
  std::vector<Value> row = {text_value(key.first == kAbsent ? "" : std::to_string(key.first)),
                            role_of(trace, key.first), int_or_null(key.second)};
  const std::vector<std::int64_t>& waits = group.durations[fetch];
  row.push_back(int_value(waits.size()));
  row.push_back(waits.empty() ? Value() : int_value(sum(waits)));
  add_summary(group.durations[fetch], row);
  row.push_back(int_value(group.durations[sample].size()));
  for (const Work work : {sample, collate, pin}) add_summary(group.durations[work], row);
  return row;
}

Result<Table> compute(const Context& context) {
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
  Table table;
  for (auto& [key, group] : groups) table.rows.push_back(row_of(trace, key, group));
  if (groups.empty()) {
    table.notes.emplace_back(
        "The recording holds no times of a data loader; fathom run records those of PyTorch's "
        "DataLoader.");
  }
  return table;
}

constexpr std::string_view kImportance[] = {
    "process", "wait_ns",     "samples",       "sample_mean_ns",  "fetches",    "wait_mean_ns",
    "role",    "wait_p95_ns", "sample_p95_ns", "collate_mean_ns", "pin_mean_ns"};

}  // namespace

Report loader() {
  return {.id = "loader",
          .title = "Data loading: waits of the loop, and the time of samples in the workers",
          .doc =
              "One row per process that waits for batches or makes them; --group-by batch: one row "
              "per batch. A worker makes samples and collates them while the loop does other "
              "things; only what the loop waits for is lost.",
          .columns = kColumns,
          .group_by = kGroupBy,
          .sort = "",
          .example = "fathom loader fathom-runs/20260101-120000-train --group-by batch",
          .compute = compute,
          .importance = kImportance};
}

}  // namespace fathom

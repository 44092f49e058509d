// telemetry: what was sampled beside the program, counter by counter.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "reports/report.h"

namespace fathom {
namespace telemetry_report {
namespace {

struct Counter {
  const Track* track = nullptr;
  std::vector<double> values;  // sorted, when all are there
  Time first = Time::max();
  Time last = Time::min();
  double first_value = 0;
  double last_value = 0;
};
using Counters = ReportRows<Counter, const Trace*>;

/// The value that `percent` of the samples do not exceed: the smallest of rank ceil(n p / 100).
/// Unset without samples.
std::optional<double> percentile(const std::vector<double>& sorted, double percent) {
  if (sorted.empty()) return {};
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::string_view name_of(const Counter& counter, const Trace* trace) {
  const std::string_view name = trace->text(counter.track->name);
  return name.empty() ? trace->text(counter.track->thread) : name;
}

std::optional<std::int32_t> device_of(const Counter& counter) {
  return counter.track->device < 0 ? std::nullopt : std::optional(counter.track->device);
}

std::optional<std::string_view> unit_of(const Counter& counter, const Trace* trace) {
  return text_or_null(trace->text(counter.track->unit));
}

/// From the least on, so that a level that does not change is its own mean.
std::optional<double> mean_of(const Counter& counter) {
  if (counter.values.empty()) return {};
  const double least = counter.values.front();
  double above = 0;
  for (const double value : counter.values) above += value - least;
  return least + above / static_cast<double>(counter.values.size());
}

std::optional<double> change_of(const Counter& counter) {
  if (counter.values.empty()) return {};
  return counter.last_value - counter.first_value;
}

template <int kPercent>
std::optional<double> percentile_of(const Counter& counter) {
  return percentile(counter.values, kPercent);
}

constexpr Counters::Column kColumns[] = {
    {"counter", ColumnKind::name, "", "What was measured.", by<name_of>},
    {"device", ColumnKind::integer, "", "The device it is of, where it is of one.", by<device_of>},
    {"process", ColumnKind::text, "", "The pid of the process it is of, or machine.",
     [](const Counter& counter, const Trace* trace) {
       return trace->text(counter.track->process);
     }},
    {"unit", ColumnKind::text, "", "Of min, mean, p50, p95, max and change.", by<unit_of>},
    {"samples", ColumnKind::count, "", "How many samples lie in the selected time.",
     [](const Counter& counter) { return counter.values.size(); }},
    {"min", ColumnKind::real, "", "Least sample.", by<percentile_of<0>>},
    {"mean", ColumnKind::real, "", "Mean of the samples.", by<mean_of>},
    {"p50", ColumnKind::real, "", "Median: half of the samples are at most this.",
     by<percentile_of<50>>},
    {"p95", ColumnKind::real, "", "19 of 20 samples are at most this.", by<percentile_of<95>>},
    {"max", ColumnKind::real, "", "Greatest sample.", by<percentile_of<100>>},
    {"change", ColumnKind::real, "", "Last sample less the first: what a total grew by.",
     by<change_of>, true},
};

void add(Counter& counter, Time time, double value) {
  counter.values.push_back(value);
  if (time < counter.first) {
    counter.first = time;
    counter.first_value = value;
  }
  if (time >= counter.last) {
    counter.last = time;
    counter.last_value = value;
  }
}

/// Rows of tracks: those of one name together, then by device and process.
std::vector<std::size_t> in_order(const Trace& trace) {
  using Key = std::tuple<std::string_view, std::int32_t, std::int64_t, std::string_view,
                         std::string_view, std::size_t>;
  std::vector<Key> keys;
  for (std::size_t row = 0; row < trace.tracks.size(); ++row) {
    const Track& track = trace.tracks[row];
    if (track.kind != TrackKind::counter) continue;
    keys.emplace_back(trace.text(track.name), track.device, track.pid, trace.text(track.process),
                      trace.text(track.thread), row);
  }
  std::ranges::sort(keys);
  std::vector<std::size_t> order(keys.size());
  std::ranges::transform(keys, order.begin(),
                         [](const Key& key) { return std::get<std::size_t>(key); });
  return order;
}

Result<Counters> compute(const Context& context) {
  const Trace& trace = context.trace;
  // Without a selection also what lies outside of what torch.profiler recorded.
  const bool all = !context.selection.steps && !context.selection.window;
  const Interval window = context.window();
  std::vector<Counter> counters(trace.tracks.size());
  for (std::size_t row = 0; row < trace.samples.size(); ++row) {
    const Time time = trace.samples.time[row];
    // The end belongs to it: the span of a recording of samples alone ends with the last of them.
    if (!all && (time < window.begin || time > window.end)) continue;
    add(counters[trace.samples.track[row].row()], time, trace.samples.value[row]);
  }
  Counters table{.shared = &trace};
  std::size_t silent = 0;
  for (const std::size_t row : in_order(trace)) {
    const Track& track = trace.tracks[row];
    const std::optional<std::int32_t> device = context.selection.device;
    if (device && track.device >= 0 && track.device != *device) continue;
    Counter& counter = counters[row];
    counter.track = &track;
    std::ranges::sort(counter.values);
    silent += counter.values.empty() ? 1 : 0;
    table.rows.push_back(std::move(counter));
  }
  if (silent > 0) {
    table.notes.push_back(std::to_string(silent) +
                          " counters have no sample in this time: it is shorter than the time "
                          "between two samples, or they were not recorded then.");
  }
  return table;
}

constexpr std::string_view kImportance[] = {"counter", "mean",   "unit", "max",     "min",
                                            "p95",     "device", "p50",  "samples", "process"};

constexpr Need kNeeds[] = {{StoreTable::counters}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "telemetry",
       .title = "Counters sampled beside the program: GPU, processor, memory, I/O",
       .doc =
           "One row per counter, device and process, over the samples in the selected time. Each "
           "sample counts once; percentiles are samples that occurred, none is interpolated.",
       .group_by = {},
       .sort = "",
       .example = "fathom telemetry fathom-runs/20260101-120000-train",
       .needs = kNeeds,
       .importance = kImportance});
}

}  // namespace
}  // namespace telemetry_report

Report telemetry() { return telemetry_report::report(); }

}  // namespace fathom

// telemetry: what was sampled beside the program, counter by counter.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/report.h"
#include "reports/rows.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"counter", ColumnKind::name, "", "What was measured."},
    {"device", ColumnKind::integer, "", "The device it is of, where it is of one."},
    {"process", ColumnKind::text, "", "The pid of the process it is of, or machine."},
    {"unit", ColumnKind::text, "", "Of min, mean, p50, p95, max and change."},
    {"samples", ColumnKind::count, "", "How many samples lie in the selected time."},
    {"min", ColumnKind::real, "", "Least sample."},
    {"mean", ColumnKind::real, "", "Mean of the samples."},
    {"p50", ColumnKind::real, "", "Median: half of the samples are at most this."},
    {"p95", ColumnKind::real, "", "19 of 20 samples are at most this."},
    {"max", ColumnKind::real, "", "Greatest sample."},
    {"change", ColumnKind::real, "", "Last sample less the first: what a total grew by.", true},
};

/// The value that `percent` of the samples do not exceed: the smallest of rank ceil(n p / 100).
double percentile(const std::vector<double>& sorted, double percent) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

struct Counter {
  std::vector<double> values;
  Time first = Time::max();
  Time last = Time::min();
  double first_value = 0;
  double last_value = 0;
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

Value finite(double value) {
  if (!std::isfinite(value)) return {};
  return Value(value);
}

std::vector<Value> row_of(const Trace& trace, const Track& track, Counter& counter) {
  const std::string_view name = trace.text(track.name);
  std::vector<Value> row;
  row.reserve(std::size(kColumns));
  row.push_back(text_value(name.empty() ? trace.text(track.thread) : name));
  row.push_back(int_or_null(track.device < 0 ? kAbsent : track.device));
  row.push_back(text_value(trace.text(track.process)));
  row.push_back(text_or_null(trace.text(track.unit)));
  row.push_back(int_value(counter.values.size()));
  if (counter.values.empty()) {
    row.resize(std::size(kColumns));
    return row;
  }
  std::ranges::sort(counter.values);
  // From the least on, so that a level that does not change is its own mean.
  const double least = counter.values.front();
  double above = 0;
  for (const double value : counter.values) above += value - least;
  const double mean = least + above / static_cast<double>(counter.values.size());
  const auto add = [&row](double value) { row.push_back(finite(value)); };
  add(counter.values.front());
  add(mean);
  add(percentile(counter.values, 50));
  add(percentile(counter.values, 95));
  add(counter.values.back());
  add(counter.last_value - counter.first_value);
  return row;
}

/// Those of one name together, then by device and process.
std::vector<std::size_t> in_order(const Trace& trace) {
  std::vector<std::size_t> order;
  for (std::size_t row = 0; row < trace.tracks.size(); ++row) {
    if (trace.tracks[row].kind == TrackKind::counter) order.push_back(row);
  }
  const auto key = [&trace](std::size_t row) {
    const Track& track = trace.tracks[row];
    return std::tuple(trace.text(track.name), track.device, track.pid, trace.text(track.process),
                      trace.text(track.thread));
  };
  std::ranges::sort(order, {}, key);
  return order;
}

Result<Table> compute(const Context& context) {
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
  Table table;
  std::size_t silent = 0;
  for (const std::size_t row : in_order(trace)) {
    const Track& track = trace.tracks[row];
    const std::optional<std::int32_t> device = context.selection.device;
    if (device && track.device >= 0 && track.device != *device) continue;
    table.rows.push_back(row_of(trace, track, counters[row]));
    silent += counters[row].values.empty() ? 1 : 0;
  }
  if (table.rows.empty())
    table.notes.emplace_back("The recording holds no counters; fathom run records them.");
  if (silent > 0) {
    table.notes.push_back(std::to_string(silent) +
                          " counters have no sample in this time: it is shorter than the time "
                          "between two samples, or they were not recorded then.");
  }
  return table;
}

constexpr std::string_view kImportance[] = {"counter", "mean",   "unit", "max",     "min",
                                            "p95",     "device", "p50",  "samples", "process"};

}  // namespace

Report telemetry() {
  return {
      .id = "telemetry",
      .title = "Counters sampled beside the program: GPU, processor, memory, I/O",
      .doc =
          "One row per counter, device and process, over the samples in the selected time. Each "
          "sample counts once; percentiles are samples that occurred, none is interpolated.",
      .columns = kColumns,
      .group_by = {},
      .sort = "",
      .example = "fathom telemetry fathom-runs/20260101-120000-train",
      .compute = compute,
      .importance = kImportance};
}

}  // namespace fathom

// Collects counters and summarises them.
#include "analysis/timeline/counter_series.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/util/row_order.h"

namespace fathom {
namespace {

void sort_by_time(CounterSeries& series) {
  if (std::ranges::is_sorted(series.times)) return;
  std::vector<std::uint32_t> order(series.times.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  sort_rows(std::span<std::uint32_t>(order), [&series](std::uint32_t a, std::uint32_t b) {
    return series.times[a] < series.times[b];
  });
  CounterSeries sorted = series;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.times[i] = series.times[order[i]];
    sorted.values[i] = series.values[order[i]];
  }
  series = std::move(sorted);
}

void add(CounterSeries& series, Time time, double value) {
  series.times.push_back(time);
  series.values.push_back(value);
}

void add_samples(const Trace& trace, std::vector<CounterSeries>& all) {
  constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::size_t> place(trace.tracks.size(), kNone);
  for (std::size_t row = 0; row < trace.samples.size(); ++row) {
    const TrackId id = trace.samples.track[row];
    const Track& track = trace.tracks[id.row()];
    if (place[id.row()] == kNone) {
      place[id.row()] = all.size();
      const StringId name =
          track.name.valid() && !trace.text(track.name).empty() ? track.name : track.thread;
      all.push_back({.title = std::string(trace.text(name)),
                     .unit = std::string(trace.text(track.unit)),
                     .process = std::string(trace.text(track.process)),
                     .device = track.device,
                     .times = {},
                     .values = {}});
    }
    add(all[place[id.row()]], trace.samples.time[row], trace.samples.value[row]);
  }
}

void add_memory(const Trace& trace, std::vector<CounterSeries>& all) {
  std::map<std::pair<std::int32_t, bool>, CounterSeries> found;
  for (std::size_t row = 0; row < trace.memory.size(); ++row) {
    // -1 is the host's.
    const std::int32_t device = trace.memory.device[row] < 0 ? -1 : trace.memory.device[row];
    const std::string where = device < 0 ? "host" : "device " + std::to_string(device);
    const auto take = [&](bool reserved, std::int64_t bytes) {
      if (bytes == kAbsent) return;
      CounterSeries& series = found[{device, reserved}];
      if (series.title.empty()) {
        series.title = std::string(reserved ? "Memory reserved, " : "Memory allocated, ") + where;
        series.unit = "bytes";
        series.device = device;
      }
      add(series, trace.memory.time[row], static_cast<double>(bytes));
    };
    take(false, trace.memory.total_allocated[row]);
    // The host's allocator reserves nothing.
    if (device >= 0) take(true, trace.memory.total_reserved[row]);
  }
  for (auto& [key, series] : found) all.push_back(std::move(series));
}

}  // namespace

std::vector<CounterSeries> counter_series(const Trace& trace) {
  std::vector<CounterSeries> all;
  add_samples(trace, all);
  add_memory(trace, all);
  for (CounterSeries& series : all) sort_by_time(series);
  return all;
}

std::vector<CounterBin> counter_bins(const CounterSeries& series, Interval stretch,
                                     std::size_t bins) {
  std::vector<CounterBin> made;
  const std::int64_t length = to_ns(stretch.length());
  if (length <= 0 || bins == 0) return made;
  auto next = static_cast<std::size_t>(std::ranges::upper_bound(series.times, stretch.begin) -
                                       series.times.begin());
  // The product of a long stretch and the number of a bin might not fit.
  const auto count = static_cast<std::int64_t>(bins);
  const auto begin_of = [&](std::size_t bin) {
    const auto number = static_cast<std::int64_t>(bin);
    return stretch.begin + Duration(length / count * number + length % count * number / count);
  };
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const Interval part{begin_of(bin), begin_of(bin + 1)};
    CounterBin sums{.begin = part.begin};
    bool known = next > 0;
    if (known) sums.least = sums.most = sums.last = series.values[next - 1];
    double weighted = 0;
    Time from = part.begin;
    Duration weight{};
    const auto hold = [&](Time until) {
      if (!known) return;
      weighted += sums.last * static_cast<double>(to_ns(until - from));
      weight += until - from;
    };
    for (; next < series.times.size() && series.times[next] < part.end; ++next) {
      const double value = series.values[next];
      hold(series.times[next]);
      from = series.times[next];
      sums.least = known ? std::min(sums.least, value) : value;
      sums.most = known ? std::max(sums.most, value) : value;
      sums.last = value;
      known = true;
    }
    hold(part.end);
    if (!known) continue;
    sums.mean = weight > Duration{} ? weighted / static_cast<double>(to_ns(weight)) : sums.last;
    if (series.is_share) sums.least = sums.most = sums.last = sums.mean;
    made.push_back(sums);
  }
  return made;
}

}  // namespace fathom

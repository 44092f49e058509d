// Finds counters by name and takes means, peaks and differences of their samples.
#include "analysis/machine/telemetry.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/util/json_list.h"

namespace fathom {
namespace {

double seconds(Duration duration) { return 1e-9 * static_cast<double>(to_ns(duration)); }

auto key_of(const CounterLine& line) { return std::tie(line.name, line.device, line.pid); }

/// Puts the samples into the order of time; a recorder writes them almost so.
void sort_by_time(CounterLine& line) {
  if (std::ranges::is_sorted(line.times)) return;
  std::vector<std::size_t> order(line.times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return line.times[row]; });
  CounterLine sorted = line;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.times[i] = line.times[order[i]];
    sorted.values[i] = line.values[order[i]];
  }
  line = std::move(sorted);
}

Interval cut(const CounterLine& line, const Interval& stretch) {
  const Time begin = std::max(stretch.begin, line.times.front());
  return {begin, std::max(begin, std::min(stretch.end, line.times.back()))};
}

/// The rows of samples inside, the ends left out.
std::pair<std::size_t, std::size_t> inside(const CounterLine& line, const Interval& stretch) {
  const auto first = std::ranges::upper_bound(line.times, stretch.begin);
  const auto last = std::lower_bound(first, line.times.end(), stretch.end);
  return {static_cast<std::size_t>(first - line.times.begin()),
          static_cast<std::size_t>(last - line.times.begin())};
}

/// The text of entry `number` of a list with commas; empty when there is none.
std::string_view entry(std::string_view list, std::int32_t number) {
  for (; number > 0; --number) {
    const std::size_t comma = list.find(',');
    if (comma == std::string_view::npos) return {};
    list.remove_prefix(comma + 1);
  }
  list = list.substr(0, list.find(','));
  while (list.starts_with(' ')) list.remove_prefix(1);
  while (list.ends_with(' ')) list.remove_suffix(1);
  return list;
}

std::optional<std::int32_t> number_of(std::string_view text) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return {};
  return number;
}

/// Formats without names of their own for counters have the series in the place of a thread, with
/// its device behind: "gpu.power device 0".
void name_by_series(std::string_view series, CounterLine& line) {
  constexpr std::string_view kDevice = " device ";
  line.name = series;
  const std::size_t at = series.rfind(kDevice);
  if (at == std::string_view::npos) return;
  const auto device = number_of(series.substr(at + kDevice.size()));
  if (!device) return;
  line.name = series.substr(0, at);
  line.device = *device;
}

/// Adds one stretch to a sum of time-weighted values.
void add_level(const CounterLine& line, const Interval& stretch, double& area,
               std::optional<LevelSummary>& summary) {
  const Interval part = cut(line, stretch);
  if (part.begin > part.end || stretch.end < line.times.front() ||
      stretch.begin > line.times.back()) {
    return;
  }
  Time last_time = part.begin;
  double last_value = *line.at(part.begin);
  if (!summary) summary = LevelSummary{.mean = 0, .least = last_value, .most = last_value};
  const auto step = [&](Time time, double value) {
    area += seconds(time - last_time) * (last_value + value) / 2;
    summary->least = std::min({summary->least, last_value, value});
    summary->most = std::max({summary->most, last_value, value});
    last_time = time;
    last_value = value;
  };
  const auto [first, end] = inside(line, part);
  for (std::size_t row = first; row < end; ++row) step(line.times[row], line.values[row]);
  step(part.end, *line.at(part.end));
  summary->known += part.length();
  // A stretch without length, or a single sample: what it says at that moment.
  if (part.length() == Duration{} && summary->known == Duration{}) summary->mean = last_value;
}

}  // namespace

std::optional<double> CounterLine::at(Time time) const {
  if (times.empty() || time < times.front() || time > times.back()) return {};
  const auto after = std::ranges::lower_bound(times, time);
  const auto row = static_cast<std::size_t>(after - times.begin());
  if (*after == time || row == 0) return values[row];
  const double share = seconds(time - times[row - 1]) / seconds(times[row] - times[row - 1]);
  return values[row - 1] + share * (values[row] - values[row - 1]);
}

Telemetry::Telemetry(const Trace& trace) : trace_(trace) {
  // Line of each track, or none.
  std::vector<std::size_t> line_of(trace.tracks.size(), SIZE_MAX);
  for (std::size_t row = 0; row < trace.samples.size(); ++row) {
    const TrackId id = trace.samples.track[row];
    const Track& track = trace.tracks[id.row()];
    if (track.kind != TrackKind::counter) continue;
    std::size_t& number = line_of[id.row()];
    if (number == SIZE_MAX) {
      number = lines_.size();
      CounterLine line;
      line.name = trace.text(track.name);
      line.device = track.device;
      if (line.name.empty()) name_by_series(trace.text(track.thread), line);
      line.pid = track.pid == kAbsent ? 0 : track.pid;
      lines_.push_back(std::move(line));
    }
    lines_[number].times.push_back(trace.samples.time[row]);
    lines_[number].values.push_back(trace.samples.value[row]);
  }
  for (CounterLine& line : lines_) {
    sort_by_time(line);
    if (line.name.starts_with("gpu.") && line.device >= 0) gpus_.push_back(line.device);
  }
  std::ranges::stable_sort(
      lines_, [](const CounterLine& a, const CounterLine& b) { return key_of(a) < key_of(b); });
  std::ranges::sort(gpus_);
  gpus_.erase(std::unique(gpus_.begin(), gpus_.end()), gpus_.end());
}

const CounterLine* Telemetry::find(std::string_view name, std::int32_t device,
                                   std::int64_t pid) const {
  const auto at = std::lower_bound(
      lines_.begin(), lines_.end(), std::tie(name, device, pid),
      [](const CounterLine& line, const auto& wanted) { return key_of(line) < wanted; });
  const bool found = at != lines_.end() && key_of(*at) == std::tie(name, device, pid);
  return found ? &*at : nullptr;
}

std::optional<std::int32_t> Telemetry::gpu_of(std::int32_t device) const {
  if (device < 0 || gpus_.empty()) return {};
  if (const Fact* const visible = trace_.fact("environment.CUDA_VISIBLE_DEVICES")) {
    const std::string_view chosen = entry(json_unquoted(visible->value), device);
    if (const auto number = number_of(chosen)) {
      return std::ranges::binary_search(gpus_, *number) ? number : std::nullopt;
    }
    for (const std::int32_t gpu : gpus_) {
      const Fact* const known = trace_.fact("gpu." + std::to_string(gpu));
      if (known != nullptr && !chosen.empty() && known->value.find(chosen) != std::string::npos) {
        return gpu;
      }
    }
  }
  // One GPU in the machine is the one, whatever number the program's container gives it.
  if (gpus_.size() == 1) return gpus_.front();
  return std::ranges::binary_search(gpus_, device) ? std::optional(device) : std::nullopt;
}

std::optional<LevelSummary> level(const CounterLine& line, std::span<const Interval> stretches) {
  std::optional<LevelSummary> summary;
  double area = 0;
  for (const Interval& stretch : stretches) add_level(line, stretch, area, summary);
  if (summary && summary->known > Duration{}) summary->mean = area / seconds(summary->known);
  return summary;
}

std::optional<double> rise(const CounterLine& line, std::span<const Interval> stretches) {
  if (line.times.size() < 2) return {};
  double sum = 0;
  bool any = false;
  for (const Interval& stretch : stretches) {
    const Interval part = cut(line, stretch);
    if (part.length() <= Duration{} || part.end > line.times.back()) continue;
    sum += *line.at(part.end) - *line.at(part.begin);
    any = true;
  }
  if (!any) return {};
  return std::max(0.0, sum);
}

Duration known(const CounterLine& line, std::span<const Interval> stretches) {
  Duration sum{};
  if (line.times.empty()) return sum;
  for (const Interval& stretch : stretches) sum += cut(line, stretch).length();
  return sum;
}

std::optional<double> percent_of_time(const CounterLine& line,
                                      std::span<const Interval> stretches) {
  const std::optional<double> risen = rise(line, stretches);
  const Duration time = known(line, stretches);
  if (!risen || time <= Duration{}) return {};
  return 100.0 * *risen / seconds(time);
}

}  // namespace fathom

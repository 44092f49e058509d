// A counter over a stretch of time, in as many bins as the screen has room for.
#include <algorithm>
#include <vector>

#include "base/json_writer.h"
#include "server/routes/area.h"

namespace fathom::server {
namespace {

constexpr std::int64_t kMostBins = 4096;

/// When the most of a bin that ends at `end` was first reached: at its begin where it came with it.
Time time_of_most(const CounterSeries& series, const CounterBin& bin, Time end) {
  const auto first = std::ranges::lower_bound(series.times, bin.begin);
  for (auto at = static_cast<std::size_t>(first - series.times.begin());
       at < series.times.size() && series.times[at] < end; ++at) {
    if (series.values[at] == bin.most) return series.times[at];
  }
  return bin.begin;
}

/// The counter of that number, or nullptr.
const CounterSeries* series_of(OpenInput& input, std::int64_t track) {
  const TimelineModel& model = input.timeline();
  const auto id = static_cast<std::size_t>(track);
  const std::size_t first = model.id_of_counter(0);
  const std::size_t first_of_device = model.id_of_device_counter(0);
  if (id < first || id - first >= model.counters.size() + model.device_counters()) return nullptr;
  if (id < first_of_device) return &model.counters[id - first];
  return &input.device_counters()[id - first_of_device];
}

Result<Response> answer_counters(const Call& call) {
  const Result<Interval> stretch = stretch_of(call);
  if (!stretch) return stretch.error();
  const Result<std::int64_t> track = call.number("track", 0);
  if (!track) return track.error();
  const Result<std::int64_t> bins = call.number("bins", 512);
  if (!bins) return bins.error();
  const CounterSeries* const found = series_of(*call.input, *track);
  if (found == nullptr) return Error{ErrorCode::not_found, "track: there is no such counter"};
  const CounterSeries& series = *found;
  std::string text;
  JsonWriter json(text, kJsonCompact);
  json.object().member("title", series.title).member("unit", series.unit).key("bins").array();
  const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(*bins, 1, kMostBins));
  const std::vector<CounterBin> made = counter_bins(series, *stretch, count);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const CounterBin& bin = made[i];
    const Time end = i + 1 < made.size() ? made[i + 1].begin : stretch->end;
    json.object().member("begin_ns", to_ns(bin.begin)).member("min", bin.least);
    json.member("max", bin.most).member("max_at_ns", to_ns(time_of_most(series, bin, end)));
    json.member("mean", bin.mean).member("last", bin.last).end();
  }
  json.end().end();
  return json_response(std::move(text));
}

}  // namespace

Route counters() {
  return {.path = "api/counters", .answer = answer_counters, .of_first_screen = shows_the_whole};
}

}  // namespace fathom::server

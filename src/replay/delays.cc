// Measures usual delays: launches on idle streams, activities behind others.
#include "replay/delays.h"

#include <algorithm>
#include <tuple>

namespace fathom {
namespace {

/// Fewer samples than these do not speak for themselves.
constexpr std::size_t kFewSamples = 8;
/// What takes longer is not how long starting takes: graphs of thousands of nodes need less, and
/// the next of a queue a few microseconds.
constexpr Duration kMostLaunch = duration_ns(200'000);
constexpr Duration kMostBetween = duration_ns(20'000);
/// The same where no activity was seen to find the next one waiting.
constexpr Duration kUsualBetween = duration_ns(2'000);

class DelaySamples {
 public:
  DelaySamples(const Context& context, const Streams& streams)
      : trace_(context.trace), links_(context.links()), streams_(streams) {}

  void launches(TypicalDelays& delays) const {
    std::array<std::vector<Duration>, std::tuple_size_v<decltype(delays.launch)>> idle;
    std::vector<Duration> all;
    Duration least = Duration::max();
    for (std::uint32_t i = 0; i < streams_.stream_of.size(); ++i) {
      const SliceId call = links_.launch[links_.activities[i].row()];
      if (!call.valid()) continue;
      const Time launched = trace_.slices.start[call.row()];
      if (start(i) < launched) continue;
      least = std::min(least, start(i) - launched);
      const bool queued = streams_.after[i] != kNoRow && end_before(i) > launched;
      if (queued || streams_.during[i] != kNoRow) continue;
      idle[kind_of(call)].push_back(start(i) - launched);
      all.push_back(start(i) - launched);
    }
    const Duration usual = !all.empty()               ? median_of(all)
                           : least != Duration::max() ? least
                                                      : Duration{};
    for (std::size_t kind = 0; kind < idle.size(); ++kind) {
      const bool few = idle[kind].size() < kFewSamples;
      delays.launch[kind] = idle[kind].empty() ? usual : median_of(idle[kind]);
      // What few launches took may have had other reasons: work from before the recording.
      if (few) delays.launch[kind] = std::min(delays.launch[kind], usual);
      delays.launch[kind] = std::min(delays.launch[kind], kMostLaunch);
    }
  }

  void streams(TypicalDelays& delays) const {
    std::vector<Duration> queued;
    Duration least = Duration::max();
    for (std::uint32_t i = 0; i < streams_.stream_of.size(); ++i) {
      if (streams_.after[i] == kNoRow || streams_.during[i] != kNoRow || end_before(i) > start(i))
        continue;
      const Duration gap = start(i) - end_before(i);
      least = std::min(least, gap);
      const SliceId call = links_.launch[links_.activities[i].row()];
      if (!call.valid()) continue;
      if (trace_.slices.start[call.row()] + delays.launch[kind_of(call)] <= end_before(i))
        queued.push_back(gap);
    }
    delays.stream =
        queued.empty() ? std::min(least, kUsualBetween) : std::min(median_of(queued), kMostBetween);
  }

 private:
  [[nodiscard]] std::size_t kind_of(SliceId call) const {
    return static_cast<std::size_t>(links_.call_kind(trace_, call));
  }
  [[nodiscard]] Time start(std::uint32_t activity) const {
    return trace_.slices.start[links_.activities[activity].row()];
  }
  [[nodiscard]] Time end_before(std::uint32_t activity) const {
    return trace_.slices.end(links_.activities[streams_.after[activity]]);
  }

  const Trace& trace_;
  const Links& links_;
  const Streams& streams_;
};

}  // namespace

Duration median_of(std::vector<Duration>& samples) {
  if (samples.empty()) return {};
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>((samples.size() - 1) / 2);
  std::ranges::nth_element(samples, middle);
  return *middle;
}

TypicalDelays compute_delays(const Context& context, const Streams& streams) {
  TypicalDelays delays;
  const DelaySamples samples(context, streams);
  samples.launches(delays);
  samples.streams(delays);
  return delays;
}

}  // namespace fathom

// Launches that found their stream idle, and activities that found the next one waiting.
#include "replay/delays.h"

#include <algorithm>

namespace fathom {
namespace {

class DelaySamples {
 public:
  DelaySamples(const Context& context, const Streams& streams)
      : trace_(context.trace), links_(context.links()), streams_(streams) {}

  void launches(TypicalDelays& delays) const {
    for (std::size_t kind = 0; kind < delays.launch.size(); ++kind) {
      std::vector<Duration> idle;
      Duration least = Duration::max();
      for (std::uint32_t i = 0; i < streams_.stream_of.size(); ++i) {
        const SliceId call = links_.launch[links_.activities[i].row()];
        if (!call.valid() || static_cast<std::size_t>(links_.call_kind(trace_, call)) != kind)
          continue;
        const Time launched = trace_.slices.start[call.row()];
        if (start(i) < launched) continue;
        least = std::min(least, start(i) - launched);
        if (streams_.during[i] == kNoRow &&
            (streams_.after[i] == kNoRow || end_before(i) <= launched))
          idle.push_back(start(i) - launched);
      }
      delays.launch[kind] = !idle.empty()              ? median_of(idle)
                            : least != Duration::max() ? least
                                                       : Duration{};
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
      const auto kind = static_cast<std::size_t>(links_.call_kind(trace_, call));
      if (trace_.slices.start[call.row()] + delays.launch[kind] <= end_before(i))
        queued.push_back(gap);
    }
    delays.stream = !queued.empty()            ? median_of(queued)
                    : least != Duration::max() ? least
                                               : Duration{};
  }

 private:
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

// Sorts activities by stream, and there by launch.
#include "replay/streams.h"

#include <algorithm>

#include "analysis/util/row_order.h"

namespace fathom {
namespace {

class StreamOrder {
 public:
  StreamOrder(const Context& context, Streams& streams)
      : trace_(context.trace), links_(context.links()), streams_(streams) {}

  void divide() {
    std::vector<std::uint32_t> rows(trace_.tracks.size(), kNoRow);
    streams_.stream_of.reserve(links_.activities.size());
    for (std::uint32_t i = 0; i < links_.activities.size(); ++i) {
      const TrackId track = trace_.slices.track[links_.activities[i].row()];
      std::uint32_t& row = rows[track.row()];
      if (row == kNoRow) {
        row = static_cast<std::uint32_t>(streams_.streams.size());
        StreamWork stream;
        stream.track = track;
        stream.device = trace_.tracks[track.row()].device;
        streams_.streams.push_back(std::move(stream));
      }
      streams_.stream_of.push_back(row);
      streams_.streams[row].activities.push_back(i);
    }
  }

  void order(StreamWork& stream) {
    for (const std::uint32_t activity : stream.activities) {
      if (launch(activity).valid()) stream.by_launch.push_back(activity);
    }
    sort_rows(std::span(stream.by_launch),
              [this](std::uint32_t a, std::uint32_t b) { return launched_at(a) < launched_at(b); });
    std::uint32_t latest = kNoRow;
    for (const std::uint32_t activity : stream.by_launch) {
      if (latest == kNoRow || end(activity) >= end(latest)) latest = activity;
      stream.launched.push_back(launched_at(activity));
      stream.latest.push_back(latest);
    }
    if (!stream.by_launch.empty())
      stream.process = trace_.track(launch(stream.by_launch.front())).process;
  }

  /// Fills after and during.
  void follow(const StreamWork& stream) {
    std::uint32_t ended = kNoRow;   // the last to end of those that have ended
    std::uint32_t latest = kNoRow;  // the last to end of all so far
    for (const std::uint32_t activity : stream.activities) {
      const Time at = trace_.slices.start[links_.activities[activity].row()];
      if (latest != kNoRow && end(latest) <= at) {
        ended = latest;
        latest = kNoRow;
      }
      streams_.after[activity] = ended;
      streams_.during[activity] = latest;
      if (latest == kNoRow || end(activity) >= end(latest)) {
        latest = activity;
      } else if (ended == kNoRow || end(activity) > end(ended)) {
        // Ends before `latest` does: the most that what follows can come after.
        ended = activity;
      }
    }
  }

  void index_calls() {
    for (std::uint32_t i = 0; i < links_.activities.size(); ++i) {
      if (launch(i).valid()) streams_.by_call.push_back(i);
    }
    sort_rows(std::span(streams_.by_call),
              [this](std::uint32_t a, std::uint32_t b) { return launch(a) < launch(b); });
  }

 private:
  [[nodiscard]] SliceId launch(std::uint32_t activity) const {
    return links_.launch[links_.activities[activity].row()];
  }
  [[nodiscard]] Time launched_at(std::uint32_t activity) const {
    return trace_.slices.start[launch(activity).row()];
  }
  [[nodiscard]] Time end(std::uint32_t activity) const {
    return trace_.slices.end(links_.activities[activity]);
  }

  const Trace& trace_;
  const Links& links_;
  Streams& streams_;
};

}  // namespace

std::uint32_t StreamWork::last_launched(Time at) const {
  const auto after = std::ranges::lower_bound(launched, at);
  return after == launched.begin() ? kNoRow
                                   : latest[static_cast<std::size_t>(after - launched.begin()) - 1];
}

std::uint32_t StreamWork::next_launched(Time at) const {
  const auto next = std::ranges::lower_bound(launched, at);
  return next == launched.end() ? kNoRow
                                : by_launch[static_cast<std::size_t>(next - launched.begin())];
}

std::span<const std::uint32_t> Streams::launched_by(const Context& context, SliceId call) const {
  const auto launch = [&](std::uint32_t activity) {
    return context.links().launch[context.links().activities[activity].row()];
  };
  const auto begin = std::ranges::lower_bound(by_call, call, {}, launch);
  const auto end = std::ranges::upper_bound(by_call, call, {}, launch);
  return {begin, end};
}

Streams compute_streams(const Context& context) {
  Streams streams;
  StreamOrder order(context, streams);
  order.divide();
  const std::size_t activities = streams.stream_of.size();
  streams.after.assign(activities, kNoRow);
  streams.during.assign(activities, kNoRow);
  for (StreamWork& stream : streams.streams) {
    order.order(stream);
    order.follow(stream);
  }
  order.index_calls();
  return streams;
}

}  // namespace fathom

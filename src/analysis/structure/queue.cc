// Computes the depth of each stream's queue at each launch.
#include "analysis/structure/queue.h"

#include <algorithm>
#include <span>

#include "analysis/util/row_order.h"

namespace fathom {
namespace {

/// The launched activities of each stream, by start time.
std::vector<std::vector<SliceId>> by_stream(const Trace& trace, const Links& links) {
  std::vector<std::vector<SliceId>> streams(trace.tracks.size());
  for (const SliceId activity : links.activities) {
    if (links.launch[activity.row()].valid()) {
      streams[trace.slices.track[activity.row()].row()].push_back(activity);
    }
  }
  return streams;
}

void add_stream(const Trace& trace, const Links& links, const std::vector<SliceId>& by_start,
                std::vector<QueuedLaunch>& result) {
  struct Launched {
    Time at;
    SliceId call;
    SliceId activity;
  };
  std::vector<Launched> launched;
  launched.reserve(by_start.size());
  for (const SliceId activity : by_start) {
    const SliceId call = links.launch[activity.row()];
    launched.push_back({trace.slices.start[call.row()], call, activity});
  }
  sort_rows(std::span(launched), [](const Launched& a, const Launched& b) {
    return a.at != b.at ? a.at < b.at : a.call < b.call;
  });
  std::size_t started = 0;
  for (std::size_t begin = 0, end = 0, known = 0; begin < launched.size(); begin = end) {
    const Launched& first = launched[begin];
    while (end < launched.size() && launched[end].call == first.call) ++end;
    while (known < launched.size() && launched[known].at <= first.at) ++known;
    while (started < by_start.size() && trace.slices.start[by_start[started].row()] < first.at)
      ++started;
    // Stable sorting keeps the activities of one call in the order of their starts.
    result.push_back({.call = first.call,
                      .first_activity = first.activity,
                      .activities = static_cast<std::uint32_t>(end - begin),
                      .depth = static_cast<std::uint32_t>(known > started ? known - started : 0)});
  }
}

}  // namespace

std::vector<QueuedLaunch> compute_queue(const Trace& trace, const Links& links) {
  std::vector<QueuedLaunch> result;
  for (const std::vector<SliceId>& stream : by_stream(trace, links))
    add_stream(trace, links, stream, result);
  return result;
}

}  // namespace fathom

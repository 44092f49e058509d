// Who is credited with each busy instant of a device, so that no nanosecond counts twice.
#pragma once

#include <algorithm>
#include <array>

#include "analysis/structure/timeline.h"

namespace fathom {

/// Calls visit(activity, interval) for stretches that together are the busy time of the device,
/// each once: at every instant, of the running activities of the highest priority, the one that
/// started first. By kind, not by time. O(activities + segments).
template <typename Visit>
void for_each_credit(const Trace& trace, const Timelines& timelines, const DeviceTimeline& device,
                     const Visit& visit) {
  using Segment = DeviceTimeline::Segment;
  std::array<Time, kBusyKinds> covered;  // by kind: until here an earlier activity was credited
  covered.fill(Time::min());
  std::array<std::size_t, kBusyKinds> cursors{};
  for (const SliceId activity : device.activities) {
    const Busy kind = timelines.busy_kind(trace, activity);
    Time& from = covered[static_cast<std::size_t>(kind)];
    std::size_t& at = cursors[static_cast<std::size_t>(kind)];
    const Interval own{std::max(from, trace.slices.start[activity.row()]),
                       trace.slices.end(activity)};
    if (own.end <= own.begin) continue;
    from = own.end;
    while (at < device.segments.size() && device.segments[at].interval.end <= own.begin) ++at;
    // The cursor stays on the last segment: it may reach into the next activity.
    for (std::size_t i = at; i < device.segments.size(); ++i) {
      const Segment& segment = device.segments[i];
      if (segment.interval.begin >= own.end) break;
      at = i;
      if (segment.busy != kind) continue;
      visit(activity, Interval{std::max(own.begin, segment.interval.begin),
                               std::min(own.end, segment.interval.end)});
    }
  }
}

}  // namespace fathom

// What the calls that wait for a device waited for, and which activities wait for events.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/context.h"
#include "replay/host_points.h"
#include "replay/streams.h"

namespace fathom {

/// A call that waits for the device. Activities are positions in Links::activities.
struct SyncWait {
  std::uint32_t point = 0;          ///< Row of HostPoints::points: its return.
  std::uint32_t activity = kNoRow;  ///< The last that it had to wait for, or kNoRow.
  Duration own{};                   ///< What the call takes when it has not to wait.
  Duration after{};                 ///< What it takes to return when the activity has ended.
  /// A copy that goes on after the call, and came behind other work: the call waits until it has
  /// started, and `after` counts from there.
  bool from_start = false;
};

/// An activity that starts after one on another stream, because its stream waits for an event.
struct EventWait {
  std::uint32_t activity = 0;
  std::uint32_t source = 0;
};

struct Waits {
  std::vector<SyncWait> syncs;    ///< In the order of their points.
  std::vector<EventWait> events;  ///< In no particular order.
};

/// From the recorder's own records of waits (cuda_sync) where there are any. Else: a stream wait is
/// by the next launch of its thread, for what ended last before that activity, among the last
/// activities launched before the wait on the other streams; a synchronisation is for what its
/// thread's last stream did last, or for what ended last before the call returned. O(n log n).
Waits compute_waits(const Context& context, const HostPoints& points, const Streams& streams);

}  // namespace fathom

// How full the queue of a stream was when each activity was launched.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/structure/links.h"
#include "store/trace.h"

namespace fathom {

/// One launch call as one stream sees it. A graph launch has one entry per stream it uses.
struct QueuedLaunch {
  SliceId call{};            ///< The runtime or driver call.
  SliceId first_activity{};  ///< The first of its activities on that stream to start.
  std::uint32_t activities = 0;
  /// Activities of that stream launched no later than this call began and not started before it
  /// began; this call's own included.
  std::uint32_t depth = 0;
};

/// Every call with activities, by stream, then time of the call. Activities without a launch take
/// no part. O(n log n), linear where launches are recorded in order.
std::vector<QueuedLaunch> compute_queue(const Trace& trace, const Links& links);

}  // namespace fathom

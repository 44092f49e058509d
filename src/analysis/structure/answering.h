// Which thread answered a request whose slice lies in a lane beside that thread.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/structure/steps.h"
#include "store/trace.h"

namespace fathom {

/// From one lane beside a thread to the next, in thread ids: requests of an event loop that cross.
inline constexpr std::int64_t kLaneOfRequests = std::int64_t{1} << 22;

/// For each track the thread that did the work of its steps: of a lane the one beside which it
/// lies, where that is in the trace, else the track itself. Only requests have lanes.
std::vector<TrackId> answering_threads(const Trace& trace, const Steps& steps);

}  // namespace fathom

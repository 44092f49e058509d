// The allocator's events by line: what was allocated, and what of it was held at the peak.
#pragma once

#include "analysis/context.h"
#include "analysis/lines/line_owners.h"
#include "analysis/lines/line_shares.h"

namespace fathom {

/// Adds the bytes of the selected time. The peak of each device, and of the host, is the largest
/// total that the allocator recorded; what was allocated before the recording is no line's.
/// O(n log n).
void add_line_memory(const Context& context, const LineOwners& owners, LineShares& shares);

}  // namespace fathom

// The stretch of time and the tracks that a request names.
#pragma once

#include <cstddef>
#include <vector>

#include "server/route.h"

namespace fathom::server {

/// `begin` and `end`, in ns of the trace; without them the whole range. Error: invalid_argument
/// where the end is not behind the begin.
Result<Interval> stretch_of(const Call& call);

/// Is that stretch about all that was recorded, as a page shows it at first?
bool shows_the_whole(const Call& call);

}  // namespace fathom::server

// A recording as another run would have read it: the same rows under other ids.
#pragma once

#include "store/trace.h"

namespace fathom {

/// The same trace with the rows of its string pool, categories, signatures and launch
/// configurations in reversed order, as parsing threads may intern them in any. Only the empty
/// string keeps its id. Does not compile when a table gains a member that it does not list.
Trace renumbered(Trace trace);

/// The same trace with all times rounded down to multiples of `grid`: nothing that was inside
/// something else leaves it, and many durations are equal.
Trace coarse(Trace trace, Duration grid);

}  // namespace fathom

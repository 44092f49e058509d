// Distinct stacks of sampled threads and their time, for flame graphs.
#pragma once

#include <vector>

#include "analysis/util/folded_stack.h"
#include "store/sampled_time.h"
#include "store/trace.h"

namespace fathom {

/// Largest first; `count` is samples. The sum is the time of all sampled threads; what has no
/// Python stack is under its thread's name. Frames beyond the outermost 1000 belong to the last of
/// these. O(samples · depth).
std::vector<FoldedStack> sampled_stacks(const Trace& trace, SampledTime of);

}  // namespace fathom

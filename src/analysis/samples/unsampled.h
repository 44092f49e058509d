// Processor time of a program that no sample has: of threads and processes that ended before they
// were looked at.
#pragma once

#include "store/trace.h"

namespace fathom {

/// What the program used by the kernel's count when it ended, its children with it, less what was
/// sampled: a lower bound. 0 where that is little, where the count is not known, and where
/// processes were left to PyTorch's profiler. O(samples).
Duration unsampled_time(const Trace& trace);

}  // namespace fathom

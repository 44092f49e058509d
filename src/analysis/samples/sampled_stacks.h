// Distinct stacks of sampled threads and their time, for flame graphs.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/util/folded_stack.h"
#include "store/trace.h"

namespace fathom {

/// Which time of a thread counts.
enum class SampledTime : std::uint8_t { on_cpu, blocked };

/// Largest first; `count` is samples. The sum is the time of all sampled threads; what has no
/// Python stack is under its thread's name. Frames beyond the outermost 1000 belong to the last of
/// these. O(samples · depth).
std::vector<FoldedStack> sampled_stacks(const Trace& trace, SampledTime of);

}  // namespace fathom

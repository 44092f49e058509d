// Stretches of time: where slices lie, their union and their median.
#pragma once

#include <vector>

#include "store/trace.h"

namespace fathom {

/// Where a slice lies.
Interval interval_of(const Trace& trace, SliceId slice);

/// The union of the stretches: by time, disjoint. O(n log n).
std::vector<Interval> merged(std::vector<Interval> stretches);

/// The median, of an even number the upper of the two in the middle; zero of nothing.
Duration median_of(std::vector<Duration> durations);

}  // namespace fathom

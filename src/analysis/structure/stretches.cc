// Looks up, merges and halves stretches of time.
#include "analysis/structure/stretches.h"

#include <algorithm>
#include <cstddef>

namespace fathom {

Interval interval_of(const Trace& trace, SliceId slice) {
  return {trace.slices.start[slice.row()], trace.slices.end(slice)};
}

std::vector<Interval> merged(std::vector<Interval> stretches) {
  std::ranges::sort(stretches, {}, &Interval::begin);
  std::vector<Interval> result;
  for (const Interval& stretch : stretches) {
    if (result.empty() || stretch.begin > result.back().end) {
      result.push_back(stretch);
    } else {
      result.back().end = std::max(result.back().end, stretch.end);
    }
  }
  return result;
}

Duration median_of(std::vector<Duration> durations) {
  if (durations.empty()) return {};
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::ranges::nth_element(durations, middle);
  return *middle;
}

}  // namespace fathom

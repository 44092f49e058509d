// Shares out what reading files costs once.
#include "sample/allowed_cost.h"

#include <algorithm>

namespace fathom::sample {

std::int64_t allowed_cost(double share, std::int64_t time) {
  constexpr double kOnce = 50e6;
  constexpr double kWithin = 10e9;
  const auto so_far = static_cast<double>(time);
  const double once = kOnce * std::max(0.0, 1 - so_far / kWithin);
  return static_cast<std::int64_t>(share * so_far + once);
}

}  // namespace fathom::sample

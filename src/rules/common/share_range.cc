// The error of a share that was sampled.
#include "rules/common/share_range.h"

#include <algorithm>
#include <cmath>

namespace fathom {

ShareRange share_range(double share, double count) {
  constexpr double kZ = 1.96;
  constexpr double kZ2 = kZ * kZ;
  const double scale = 1 + kZ2 / count;
  const double middle = (share + kZ2 / (2 * count)) / scale;
  const double half =
      kZ / scale * std::sqrt(share * (1 - share) / count + kZ2 / (4 * count * count));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

}  // namespace fathom

// The log ratio of the two values of a pair, where one of them may be 0.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

namespace fathom {

/// The natural logarithm of now / base. Infinite where one of them is 0 or has no end: that pair
/// says which is less, not by how much, and a median needs no more of it. Not a number where both
/// are so: nothing is known of that pair. Unset for values that are negative or not a number.
inline std::optional<double> log_ratio(double base, double now) {
  if (!(base >= 0) || !(now >= 0)) return std::nullopt;
  if (base == now && (base == 0 || std::isinf(base)))
    return std::numeric_limits<double>::quiet_NaN();
  if (base == 0) return std::numeric_limits<double>::infinity();
  return std::log(now / base);
}

}  // namespace fathom

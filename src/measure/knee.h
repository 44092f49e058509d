// From which value on more brings nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace fathom::measure {

/// What was measured at one value of a sweep.
struct KneePoint {
  double value = 0;
  std::optional<double> cost;  ///< Less is better; unset where it could not be measured.
};

/// The place of the knee: the point of the smallest value whose cost is not worse than the least of
/// all by more than `resolution` (0.01: 1 %). Unset where no point has a cost.
std::optional<std::size_t> knee_of(std::span<const KneePoint> points, double resolution);

}  // namespace fathom::measure

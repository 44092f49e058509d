// Which counted steps are far longer than the others.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "rules/rule.h"

namespace fathom {

/// Steps longer than fence_of_long() (stats/long_outliers.h).
struct Outliers {
  std::vector<const Step*> steps;  ///< Ascending by address: in the order of the trace.
  double median = 0;               ///< Length of all the steps, in ns.
  Duration excess{};               ///< Above the median, in all.
  [[nodiscard]] bool has(const Step* step) const {
    return std::ranges::binary_search(steps, step, std::less<>());
  }
};

/// O(n log n).
Outliers find_outliers(std::span<const Step* const> steps);

/// The leading counted steps that take more than 1.5 times the median of all, the time in which the
/// pipeline fills aside; of fewer than three steps, none. They are warm-up, outliers or not.
/// O(n log n).
std::span<const Step* const> leading_long_steps(const RuleContext& rules);

}  // namespace fathom

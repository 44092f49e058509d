// Counts have no noise: whether they keep a budget is exact.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/budget.h"

namespace fathom {

/// A sum over steps; of what is not per step, `steps` is 1. Both at most 2^63, 10^7 steps.
struct StepSum {
  std::int64_t sum = 0;
  std::int64_t steps = 1;

  [[nodiscard]] double mean() const {
    return static_cast<double>(sum) / static_cast<double>(steps);
  }
};

/// In whole numbers, without rounding, whatever the amount. `base` is not looked at for a budget
/// without a base.
bool keeps(const Budget& budget, const StepSum& base, const StepSum& now);

}  // namespace fathom

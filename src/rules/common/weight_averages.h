// Averages of the weights (EMA) that a program updates one by one after its optimizer.
#pragma once

#include <cstddef>
#include <vector>

#include "rules/rule.h"

namespace fathom {

/// Runs of updates in place: after an optimizer step and before the next matrix multiplication, as
/// many as gradients were accumulated, or up to twice as many, for averages of buffers. An update
/// is a lerp_, a mul_ and add_, a sub and sub_, or a mul and copy_.
struct WeightAverages {
  std::vector<SliceId> ops;     ///< By time, in counted steps.
  std::vector<SliceId> slices;  ///< These and all host work inside them, ascending.
  std::size_t runs = 0;
  std::size_t updates = 0;    ///< Of all runs.
  std::size_t gradients = 0;  ///< Of the optimizer steps before these.
  Duration time{};            ///< From the first to the last operator of each run.
  [[nodiscard]] bool hold(SliceId slice) const;
};

/// O(host slices).
WeightAverages weight_averages(const RuleContext& rules);

}  // namespace fathom

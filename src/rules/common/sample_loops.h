// Loops of Python with a round for each sample of a batch, as they show among the operators.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace fathom {

/// A block of operators that a program calls at least eight times in a row under one parent, in one
/// step, is a loop; without a slice in it, one that multiplies matrices is a row of layers. Loops
/// of the optimizer, of fetches and of the backward pass have as many rounds whatever the batch.
struct SampleLoops {
  /// What the loops take, and the backward pass of their operators: ascending, disjoint.
  std::vector<Interval> stretches;
  Duration time{};  ///< Of that in counted steps.
  /// Shapes show that there is a round for each sample; else, where none were recorded, these are
  /// all loops, and whether they grow with the batch is not known.
  bool known = false;
  /// Does the moment lie in a loop? O(log n).
  [[nodiscard]] bool hold(Time moment) const;
};

/// Those of the main thread, or beside a device of all threads. Where shapes were recorded: loops
/// that take each slice of a tensor's first dimension, or of the one that has the batch's size, and
/// blocks of one shape that come as often as there are samples. O(operators).
SampleLoops sample_loops(const RuleContext& rules);

}  // namespace fathom

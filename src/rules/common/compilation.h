// Compilers and autotuners at work inside a recording.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace fathom {

/// What Dynamo, AOTAutograd, Inductor and Triton do in counted steps while they compile or
/// autotune: their ranges, and their functions where Python frames were recorded.
struct Compilation {
  std::vector<SliceId> slices;      ///< Outermost, by thread.
  std::vector<Interval> stretches;  ///< Their union.
};

/// O(names + host slices); O(names) where nothing is named so.
Compilation compilation_in(const RuleContext& rules);

}  // namespace fathom

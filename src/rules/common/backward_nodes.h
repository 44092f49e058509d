// What the backward pass does for operators of the forward pass.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace fathom {

/// The nodes of the backward pass that run in counted steps, by the operator that made them.
/// Without a device those of the main thread: it runs them there.
class BackwardNodes {
 public:
  /// O(host slices); the first of a diagnosis also joins forward to backward operators.
  explicit BackwardNodes(const RuleContext& rules);
  /// The nodes that the operator made, or what it called: with everything inside them, outermost
  /// slices. O(log n + inside).
  [[nodiscard]] std::vector<SliceId> of(SliceId forward) const;

 private:
  struct Node {
    SliceId forward;
    SliceId backward;
  };
  const RuleContext& rules_;
  std::vector<Node> nodes_;  // By the forward operator.
};

}  // namespace fathom

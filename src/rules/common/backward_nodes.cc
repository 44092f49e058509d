// Finds the backward work of forward operators.
#include "rules/common/backward_nodes.h"

#include <algorithm>

#include "rules/common/edits.h"

namespace fathom {

BackwardNodes::BackwardNodes(const RuleContext& rules) : rules_(rules) {
  const Trace& trace = rules.trace();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    if (rules.device < 0 && thread.track != rules.accounting.main_thread) continue;
    CountedTime counted(rules);
    for (const SliceId slice : thread.slices) {
      if (!counted.holds(trace.slices.start[slice.row()])) continue;
      const SliceId forward = rules.sites.forward_of(slice);
      // "evaluate_function: MmBackward0" and "MmBackward0" inside it are one node.
      const SliceId around = parent[slice.row()];
      if (!forward.valid() || (around.valid() && rules.sites.forward_of(around) == forward))
        continue;
      nodes_.push_back({.forward = forward, .backward = slice});
    }
  }
  std::ranges::stable_sort(nodes_, {}, &Node::forward);
}

std::vector<SliceId> BackwardNodes::of(SliceId forward) const {
  std::vector<SliceId> found;
  for (const SliceId inside : tree(rules_, forward)) {
    auto node = std::ranges::lower_bound(nodes_, inside, {}, &Node::forward);
    for (; node != nodes_.end() && node->forward == inside; ++node) {
      found.push_back(node->backward);
    }
  }
  return found;
}

}  // namespace fathom

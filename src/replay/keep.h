// Makes a graph smaller: predictions need only the steps that are replayed for them.
#pragma once

#include <span>

#include "replay/graph.h"
#include "replay/host_changes.h"

namespace fathom {

/// Forgets all nodes outside of the ranges, which are disjoint and ascend, but the origin. What a
/// kept node had to wait for outside keeps its recorded time: an edge from the origin, of kind
/// `before`. O(nodes + edges).
void keep_only(ReplayGraph& graph, std::span<const NodeRange> ranges);

}  // namespace fathom

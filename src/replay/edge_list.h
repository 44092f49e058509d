// Fills ReplayGraph::edges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/graph.h"
#include "replay/host_changes.h"

namespace fathom {

/// Adds edges to the nodes of the ranges, in any order. All are added twice: first they are
/// counted, then each is put where it belongs, so that no second list of them is ever held.
class EdgeList {
 public:
  EdgeList(ReplayGraph& graph, std::span<const NodeRange> ranges)
      : graph_(graph), wanted_(graph.nodes()) {
    graph_.first_edge.assign(graph_.nodes() + 1, 0);
    for (const NodeRange& range : ranges)
      std::fill(wanted_.begin() + range.begin, wanted_.begin() + range.end, true);
  }

  /// `to` comes no earlier than `delay` after `from`, or after as much as was recorded if that is
  /// less. What the recording contradicts is no dependency.
  void add(EdgeKind kind, std::uint32_t from, std::uint32_t to, Duration delay) {
    if (!wanted_[to]) return;
    const Duration recorded = graph_.at[to] - graph_.at[from];
    if (from >= to || recorded < Duration{}) return;
    if (counting_) {
      ++graph_.first_edge[to + 1];
    } else {
      const ReplayEdge edge{.delay = std::min(delay, recorded), .from = from, .kind = kind};
      graph_.edges[graph_.first_edge[to]++] = edge;
    }
  }

  /// All edges are counted; now the same are added.
  void counted() {
    counting_ = false;
    for (std::size_t node = 0; node < graph_.nodes(); ++node)
      graph_.first_edge[node + 1] += graph_.first_edge[node];
    graph_.edges.resize(graph_.first_edge.back());
  }
  /// All are added: where the edges of a node ended up beginning, those of the next one do.
  void finish() {
    std::shift_right(graph_.first_edge.begin(), graph_.first_edge.end(), 1);
    graph_.first_edge.front() = 0;
  }

 private:
  ReplayGraph& graph_;
  std::vector<bool> wanted_;  // by node
  bool counting_ = true;
};

}  // namespace fathom

// The graph with edits in it: what becomes of delays and waits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replay/graph.h"
#include "replay/host_changes.h"
#include "replay/replay.h"
#include "replay/slice_edits.h"

namespace fathom {

/// Borrows the graph.
class EditedGraph {
 public:
  /// Host time is looked at in `ranges` only, which ascend. O(slices + edits), no host slices where
  /// none are edited. `kept`: of these ranges, or null.
  EditedGraph(const ReplayGraph& graph, const Edits& edits, const std::vector<NodeRange>& ranges,
              KeptShares* kept = nullptr);

  /// A dependency that is gone.
  static constexpr Duration kNone = Duration::min();

  /// The delay of an edge of node `to`, or kNone.
  [[nodiscard]] Duration delay(const ReplayEdge& edge, std::uint32_t to) const {
    return plain_ ? edge.delay : edited_delay(edge, to);
  }
  [[nodiscard]] Duration residual(std::uint32_t node) const {
    return edits_.any_flag() ? edited_residual(node) : graph_.residual[node];
  }
  [[nodiscard]] const std::vector<AheadWork>& ahead() const { return host_.ahead; }
  [[nodiscard]] const ReplayGraph& graph() const { return graph_; }

 private:
  [[nodiscard]] bool removed(SliceId activity) const;
  [[nodiscard]] bool frees(SliceId call) const;
  [[nodiscard]] bool hidden_from(SliceId activity, std::uint32_t to) const;
  [[nodiscard]] Duration activity_time(SliceId activity) const;
  [[nodiscard]] Duration edited_delay(const ReplayEdge& edge, std::uint32_t to) const;
  [[nodiscard]] Duration edited_residual(std::uint32_t node) const;

  const ReplayGraph& graph_;
  const Links& links_;
  bool plain_;
  SliceEdits edits_;
  HostChanges host_;
};

}  // namespace fathom

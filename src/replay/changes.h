// Edits in terms of the graph: what becomes of delays, waits and the time of host threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replay/graph.h"
#include "replay/replay.h"

namespace fathom {

/// A range of nodes that is replayed; what lies before it keeps its recorded time.
struct NodeRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Work that runs ahead on a thread of its own, and the first point that comes after it.
struct AheadWork {
  std::uint32_t node = 0;
  std::uint32_t thread = 0;  ///< Row of ReplayGraph::threads.
  Duration work{};
  Duration rest{};  ///< From the end of the work to the node, as far as it is left.
};

/// The graph with edits in it. Borrows both.
class EditedGraph {
 public:
  /// Host time is looked at in `ranges` only, which ascend. O(slices + edits), no host slices where
  /// none are edited.
  EditedGraph(const ReplayGraph& graph, const Edits& edits, const std::vector<NodeRange>& ranges);

  /// A dependency that is gone.
  static constexpr Duration kNone = Duration::min();

  /// The delay of an edge of node `to`, or kNone.
  [[nodiscard]] Duration delay(const ReplayEdge& edge, std::uint32_t to) const {
    if (plain_) return edge.delay;
    return edited_delay(edge, to);
  }
  [[nodiscard]] Duration residual(std::uint32_t node) const {
    if (flags_.empty()) return graph_.residual[node];
    return edited_residual(node);
  }
  [[nodiscard]] const std::vector<AheadWork>& ahead() const { return ahead_; }
  [[nodiscard]] const ReplayGraph& graph() const { return graph_; }

 private:
  using Flag = std::uint8_t;
  static constexpr Flag kRemoved = 1;
  static constexpr Flag kNoWait = 2;
  static constexpr Flag kHidden = 4;
  static constexpr Flag kAhead = 8;

  [[nodiscard]] bool has(SliceId slice, Flag flag) const {
    return !flags_.empty() && slice.valid() && (flags_[slice.row()] & flag) != 0;
  }
  [[nodiscard]] bool removed(std::uint32_t start) const;
  [[nodiscard]] bool communicates(std::uint32_t node) const;
  [[nodiscard]] Duration activity_time(std::uint32_t node, Duration recorded) const;
  [[nodiscard]] Duration edited_delay(const ReplayEdge& edge, std::uint32_t to) const;
  [[nodiscard]] Duration edited_residual(std::uint32_t node) const;

  void mark(const std::vector<SliceId>& slices, Flag flag);
  void change_host(const std::vector<NodeRange>& ranges);
  void change_thread(std::uint32_t thread, NodeRange range);
  void find_captured(const ReplayThread& thread);
  void set_host(const ReplayThread& thread, std::size_t point, double change);

  const ReplayGraph& graph_;
  bool plain_ = false;
  bool launch_once_ = false;
  bool any_ahead_ = false;
  std::vector<float> factors_;       // by slice; empty: all 1
  std::vector<std::uint8_t> flags_;  // by slice; empty: all 0
  std::vector<Duration> host_;       // by node: change of its host edge; empty: all 0
  std::vector<bool> captured_;       // by point of one thread: lies between launches of a graph
  std::vector<bool> step_bounds_;    // by node
  std::vector<AheadWork> ahead_;     // by node
};

}  // namespace fathom

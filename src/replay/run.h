// Replays ranges of the graph, and finds what bound their ends.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "replay/changes.h"
#include "replay/graph.h"
#include "replay/replay.h"

namespace fathom {

/// The steps that are replayed for a prediction.
struct ReplayPlan {
  std::vector<std::uint32_t>
      steps;  ///< Rows of ReplayGraph::steps, ascending: predicted, and one before.
  std::vector<NodeRange> ranges;  ///< What they need; disjoint, ascending.
};
ReplayPlan plan_steps(const ReplayGraph& graph, std::span<const std::uint32_t> predicted);

/// The times of all nodes: replayed in the ranges, recorded elsewhere. O(nodes + edges inside).
std::vector<Time> replay_times(const EditedGraph& edited, const std::vector<NodeRange>& ranges);

/// The windows of the plan's steps at those times; as Step::window where nothing was edited.
std::vector<Interval> replay_windows(const ReplayGraph& graph, const ReplayPlan& plan,
                                     std::span<const Time> times);

enum class PathOrigin : std::uint8_t {
  edge,        ///< A dependency.
  unrecorded,  ///< Work of a CUDA graph that was not recorded.
  residual,    ///< Nothing explains it.
};

/// A stretch of what a step's end had to wait for.
struct PathStretch {
  Interval interval{};
  PathPart part = PathPart::host;
  std::uint32_t node = kNoRow;  ///< That comes at the end of the stretch, or later.
  bool host = false;            ///< The time of the thread that `node` is on.
  PathOrigin origin = PathOrigin::edge;
};

/// From the window's end back to its begin, the latest first; touching. O(nodes of the step).
std::vector<PathStretch> trace_back(const EditedGraph& edited, std::span<const Time> times,
                                    std::uint32_t step, Interval window);

}  // namespace fathom

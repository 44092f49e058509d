// Numbers the moments of a recording so that what depends on something comes after it.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/graph.h"
#include "replay/host_points.h"

namespace fathom {

/// Where host points and activities are among the nodes.
struct NodeOrder {
  std::vector<std::uint32_t> point;  ///< Node by row of HostPoints::points.
  std::vector<std::uint32_t> start;  ///< Node by position in Links::activities.
  std::vector<std::uint32_t> end;    ///< Likewise.
};

/// Fills the columns of the graph that describe its nodes: at, kind, slice.
/// Node 0 is the origin. By time; at one time: ends, host points, starts, ends of what takes no
/// time. O(n log n).
NodeOrder order_nodes(const Context& context, const HostPoints& points, ReplayGraph& graph);

}  // namespace fathom

// What edits make of the time of host threads.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/graph.h"
#include "replay/slice_edits.h"

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
  Duration rest{};  ///< From the end of the work to the node.
};

struct HostChanges {
  std::vector<Duration> delay;   ///< By node: added to the delay of its host edge; empty: nothing.
  std::vector<AheadWork> ahead;  ///< By node.
};

/// The stretches of each thread, by row of ReplayGraph::threads, in which an edited slice may
/// change what is replayed; ascending.
std::vector<std::vector<Interval>> host_windows(const ReplayGraph& graph,
                                                const std::vector<NodeRange>& ranges);

/// Each stretch between two points of a thread is shared by the slices that were innermost there;
/// a slice's factor changes its shares. `kept`: of these ranges, or null. O(slices and points in
/// the ranges, which ascend).
HostChanges change_host(const ReplayGraph& graph, const SliceEdits& edits,
                        const std::vector<NodeRange>& ranges, KeptShares* kept);

}  // namespace fathom

// Gaps that every replay of a CUDA graph has at the same place.
#pragma once

#include <cstdint>
#include <span>

#include "replay/graph.h"
#include "replay/streams.h"

namespace fathom {

/// Fills graph.unrecorded from graph.residual. Launches that run the same kernels in the same order
/// are replays of one graph; with at least three of them, the median of what no edge explains
/// before the n-th activity is taken for work of the graph that was not recorded. `start`: node by
/// position in Links::activities. O(n log n).
void find_unrecorded_work(const Context& context, const Streams& streams,
                          std::span<const std::uint32_t> start, ReplayGraph& graph);

}  // namespace fathom

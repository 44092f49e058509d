// Which replay of its graph each graph activity belongs to.
#pragma once

#include <span>

#include "analysis/structure/links.h"

namespace fathom {

/// Fills links.replay. `activities` are all device activities in the order of the file; launch and
/// call_kinds are known. Launches are counted per thread and graph; a graph is known by the lowest
/// node id among its activities where the recorder wrote node ids, else by what it runs (which
/// kernels, how many of each).
void number_graph_replays(const Trace& trace, std::span<const SliceId> activities, Links& links);

}  // namespace fathom

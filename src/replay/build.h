// Builds the graph of a recording.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "replay/graph.h"

namespace fathom {

enum class ReplayScope : std::uint8_t {
  everything,
  predicted,  ///< Only the nodes that predictions of ReplayGraph::predicted replay.
};

/// `counted`: those of `steps` whose times are to be predicted. O(n log n).
std::unique_ptr<ReplayGraph> build_replay_graph(const Context& context, std::span<const Step> steps,
                                                std::span<const Step* const> counted,
                                                ReplayScope scope);

}  // namespace fathom

// Finds gaps that every replay of a CUDA graph has, activity by activity.
#include "replay/graph_gaps.h"

#include <algorithm>
#include <tuple>

#include "replay/delays.h"

namespace fathom {
namespace {

constexpr std::size_t kFewestReplays = 3;

/// An activity of a graph replay.
struct GraphNode {
  std::uint64_t graph = 0;     // digest of what the graph runs
  std::uint32_t position = 0;  // among the activities of its replay, by start
  std::uint32_t node = 0;
};

std::uint64_t mix(std::uint64_t digest, std::uint64_t value) {
  digest = (digest ^ value) * 0x9e3779b97f4a7c15ULL;
  return digest ^ digest >> 29U;
}

std::vector<GraphNode> graph_nodes(const Context& context, const Streams& streams,
                                   std::span<const std::uint32_t> start) {
  const Links& links = context.links();
  const auto launch = [&links](std::uint32_t activity) {
    return links.launch[links.activities[activity].row()];
  };
  std::vector<GraphNode> nodes;
  const std::vector<std::uint32_t>& by_call = streams.by_call;
  for (std::size_t begin = 0, end = 0; begin < by_call.size(); begin = end) {
    const SliceId call = launch(by_call[begin]);
    std::uint64_t digest = 0;
    for (; end < by_call.size() && launch(by_call[end]) == call; ++end) {
      const SliceId activity = links.activities[by_call[end]];
      digest = mix(digest, context.trace.slices.name[activity.row()].value + 1ULL);
    }
    if (links.call_kind(context.trace, call) != CallKind::graph_launch) continue;
    for (std::size_t i = begin; i < end; ++i)
      nodes.push_back({digest, static_cast<std::uint32_t>(i - begin), start[by_call[i]]});
  }
  return nodes;
}

}  // namespace

void find_unrecorded_work(const Context& context, const Streams& streams,
                          std::span<const std::uint32_t> start, ReplayGraph& graph) {
  std::vector<GraphNode> nodes = graph_nodes(context, streams, start);
  if (nodes.empty()) return;
  graph.unrecorded.resize(graph.nodes());
  const auto key = [](const GraphNode& node) {
    return std::tuple(node.graph, node.position, node.node);
  };
  std::ranges::sort(nodes, {}, key);
  std::vector<Duration> gaps;
  for (std::size_t begin = 0, end = 0; begin < nodes.size(); begin = end) {
    gaps.clear();
    for (; end < nodes.size() && nodes[end].graph == nodes[begin].graph &&
           nodes[end].position == nodes[begin].position;
         ++end) {
      gaps.push_back(graph.residual[nodes[end].node]);
    }
    if (gaps.size() < kFewestReplays) continue;
    const Duration usual = median_of(gaps);
    for (std::size_t i = begin; i < end; ++i)
      graph.unrecorded[nodes[i].node] = std::min(usual, graph.residual[nodes[i].node]);
  }
}

}  // namespace fathom

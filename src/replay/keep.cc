// Compacts a graph to the steps that predictions replay.
#include "replay/keep.h"

#include <utility>
#include <vector>

namespace fathom {
namespace {

/// The column at the kept rows; an empty one stays empty.
template <typename T>
void compact(std::vector<T>& column, std::span<const std::uint32_t> kept) {
  if (column.empty()) return;
  std::vector<T> smaller;
  smaller.reserve(kept.size());
  for (const std::uint32_t row : kept) smaller.push_back(column[row]);
  column = std::move(smaller);
}

/// New numbers of the kept nodes, kNoRow of the others.
std::vector<std::uint32_t> renumber(std::span<const std::uint32_t> kept, std::size_t nodes) {
  std::vector<std::uint32_t> numbers(nodes, kNoRow);
  for (std::uint32_t i = 0; i < kept.size(); ++i) numbers[kept[i]] = i;
  return numbers;
}

void compact_edges(ReplayGraph& graph, std::span<const std::uint32_t> kept,
                   std::span<const std::uint32_t> numbers) {
  std::vector<ReplayEdge> edges;
  std::vector<std::uint32_t> first{0};
  first.reserve(kept.size() + 1);
  for (const std::uint32_t node : kept) {
    for (std::uint32_t i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
      ReplayEdge edge = graph.edges[i];
      if (numbers[edge.from] != kNoRow) {
        edge.from = numbers[edge.from];
      } else {
        edge = {.delay = graph.at[edge.from] + edge.delay - graph.at[0],
                .from = 0,
                .kind = EdgeKind::before};
      }
      edges.push_back(edge);
    }
    first.push_back(static_cast<std::uint32_t>(edges.size()));
  }
  graph.edges = std::move(edges);
  graph.first_edge = std::move(first);
}

}  // namespace

void keep_only(ReplayGraph& graph, std::span<const NodeRange> ranges) {
  std::vector<std::uint32_t> kept{0};
  for (const NodeRange& range : ranges) {
    for (std::uint32_t node = range.begin; node < range.end; ++node) kept.push_back(node);
  }
  const std::vector<std::uint32_t> numbers = renumber(kept, graph.nodes());
  compact_edges(graph, kept, numbers);
  compact(graph.at, kept);
  compact(graph.kind, kept);
  compact(graph.slice, kept);
  compact(graph.step, kept);
  compact(graph.residual, kept);
  compact(graph.unrecorded, kept);
  for (ReplayThread& thread : graph.threads) {
    std::vector<std::uint32_t> points;
    for (const std::uint32_t point : thread.points) {
      if (numbers[point] != kNoRow) points.push_back(numbers[point]);
    }
    thread.points = std::move(points);
  }
  for (std::uint32_t& node : graph.step_begin) {
    if (node != kNoRow) node = numbers[node];
  }
}

}  // namespace fathom

// The median of what launches of graphs take.
#include "capture/cuda/graph_cost.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace fathom::cuda {
namespace {

constexpr std::size_t kMost = 4096;
constexpr std::size_t kFewest = 5;

std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

void GraphCost::launch(std::int64_t duration_ns) {
  if (launches_.size() < kMost) launches_.push_back(duration_ns);
}

std::string GraphCost::text(bool by_node) const {
  if (launches_.size() < kFewest) return {};
  constexpr double kUs = 1e-3;
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "launching a graph takes %.1f us (median of %zu) %s",
                static_cast<double>(median(launches_)) * kUs, launches_.size(),
                by_node ? "with its nodes recorded; compare a run without --graph-nodes"
                        : "recorded as a whole");
  return text.data();
}

}  // namespace fathom::cuda

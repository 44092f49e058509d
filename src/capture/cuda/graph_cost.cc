// Compares launches of graphs with and without their nodes recorded.
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

void GraphCost::launch(std::int64_t duration_ns, bool nodes) {
  std::vector<std::int64_t>& list = nodes ? with_ : without_;
  if (list.size() < kMost) list.push_back(duration_ns);
}

std::int64_t GraphCost::extra_ns() const {
  if (without_.size() < kFewest || with_.size() < kFewest) return -1;
  return std::max<std::int64_t>(0, median(with_) - median(without_));
}

std::string GraphCost::text() const {
  if (extra_ns() < 0) return {};
  constexpr double kUs = 1e-3;
  std::array<char, 160> text{};
  std::snprintf(
      text.data(), text.size(),
      "launching a graph takes %.1f us (median of %zu) with its nodes recorded, %.1f us (of "
      "%zu) without: %.1f us more a launch",
      static_cast<double>(median(with_)) * kUs, with_.size(),
      static_cast<double>(median(without_)) * kUs, without_.size(),
      static_cast<double>(extra_ns()) * kUs);
  return text.data();
}

}  // namespace fathom::cuda

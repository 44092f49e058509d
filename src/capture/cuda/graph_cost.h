// GraphCost: what recording each node of CUDA graphs costs, measured in the program itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fathom::cuda {

/// Launches of graphs with nodes recorded, beside the first ones, recorded as wholes. Times are of
/// the calls that launch, on the host. Not thread-safe.
class GraphCost {
 public:
  /// So many launches are recorded as wholes first, where nodes are wanted.
  static constexpr std::size_t kWithout = 20;

  void launch(std::int64_t duration_ns, bool nodes);
  /// True when there are enough launches as wholes to compare with.
  [[nodiscard]] bool enough() const { return without_.size() >= kWithout; }
  /// "cudaGraphLaunch takes 41.2 us (median of 300), 8.1 us (of 20) without: 33.1 us a launch", or
  /// "" before there is something to say.
  [[nodiscard]] std::string text() const;
  /// Median with nodes less the median without; -1 where unknown.
  [[nodiscard]] std::int64_t extra_ns() const;

 private:
  std::vector<std::int64_t> without_;
  std::vector<std::int64_t> with_;
};

}  // namespace fathom::cuda

// GraphCost: what launching CUDA graphs takes while they are recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fathom::cuda {

/// Of one way of recording graphs: CUPTI cannot change between wholes and nodes in a process, so
/// that two runs are compared. Times are of the calls that launch, on the host. Not thread-safe.
class GraphCost {
 public:
  void launch(std::int64_t duration_ns);
  /// "launching a graph takes 41.2 us (median of 300) with its nodes recorded" or "… recorded as a
  /// whole"; "" before there is something to say.
  [[nodiscard]] std::string text(bool by_node) const;

 private:
  std::vector<std::int64_t> launches_;
};

}  // namespace fathom::cuda

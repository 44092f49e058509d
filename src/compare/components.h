// Sets that grow together: disjoint sets with path halving.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace fathom {

class Components {
 public:
  explicit Components(std::size_t size) : of_(size) {
    std::iota(of_.begin(), of_.end(), std::size_t{0});
  }
  /// Which set it is in, by one of its members.
  std::size_t find(std::size_t at) {
    while (of_[at] != at) {
      of_[at] = of_[of_[at]];
      at = of_[at];
    }
    return at;
  }
  void join(std::size_t a, std::size_t b) { of_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> of_;
};

}  // namespace fathom

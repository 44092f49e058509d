// FreeLanes: which lanes are free from when on, and the first of them from a given one on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/time.h"

namespace fathom {

/// As many lanes as are asked for. A tree over them holds the earliest moment from which one of a
/// group is free, so that a search costs O(log lanes), whatever overlaps.
class FreeLanes {
 public:
  FreeLanes() { grow(kFirst); }

  /// The first lane from `lane` on that is free at `time`; takes it until `end`.
  std::size_t take(std::size_t lane, Time time, Time end) {
    while (lane >= leaves_) grow(leaves_ * 2);
    std::size_t found = lane;
    if (free_[leaves_ + lane] > time) {
      found = first_free(lane, time);
      if (found == leaves_) grow(leaves_ * 2);  // what was added is free
    }
    set(found, end);
    return found;
  }

 private:
  static constexpr std::size_t kFirst = 16;

  /// leaves_ where there is none.
  [[nodiscard]] std::size_t first_free(std::size_t lane, Time time) const {
    std::size_t node = leaves_ + lane;
    // Up, until a group to the right has one; then down to the first in it.
    while (free_[node] > time) {
      while (node % 2 == 1) node /= 2;
      if (node == 0) return leaves_;
      ++node;
    }
    while (node < leaves_) {
      node *= 2;
      if (free_[node] > time) ++node;
    }
    return node - leaves_;
  }

  void set(std::size_t lane, Time end) {
    std::size_t node = leaves_ + lane;
    free_[node] = end;
    for (node /= 2; node > 0; node /= 2) {
      const Time earliest = std::min(free_[2 * node], free_[2 * node + 1]);
      if (free_[node] == earliest) break;
      free_[node] = earliest;
    }
  }

  void grow(std::size_t leaves) {
    std::vector<Time> free(2 * leaves, Time::min());
    for (std::size_t i = 0; i < leaves_; ++i) free[leaves + i] = free_[leaves_ + i];
    free_ = std::move(free);
    leaves_ = leaves;
    for (std::size_t node = leaves_ - 1; node > 0; --node)
      free_[node] = std::min(free_[2 * node], free_[2 * node + 1]);
  }

  std::size_t leaves_ = 0;
  std::vector<Time> free_;  // node i has 2i and 2i+1 below; leaves from leaves_ on
};

}  // namespace fathom

// KeyIndex: the rows that carry a given 64-bit id, dense where the ids are, sorted where they are
// not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/util/row_order.h"

namespace fathom {

/// Which entries of `keys` hold a value. Entries equal to `absent` are left out. Borrows `keys`.
class KeyIndex {
 public:
  KeyIndex(std::span<const std::int64_t> keys, std::int64_t absent) : keys_(keys) {
    for (std::uint32_t i = 0; i < keys.size(); ++i) {
      if (keys[i] != absent) order_.push_back(i);
    }
    sort_rows(std::span<std::uint32_t>(order_),
              [keys](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    if (order_.empty()) return;
    lowest_ = keys[order_.front()];
    const auto range =
        static_cast<std::uint64_t>(keys[order_.back()]) - static_cast<std::uint64_t>(lowest_);
    if (range < order_.size() * kDensity) fill_first(static_cast<std::size_t>(range));
  }

  /// The entries that hold `key`, in ascending order. O(log n), however many they are.
  [[nodiscard]] std::span<const std::uint32_t> find(std::int64_t key) const {
    const std::size_t begin = lower_bound(key);
    return std::span(order_).subspan(begin, end_of(key, begin) - begin);
  }

  /// Calls visit(key, entries) for each key in ascending order. O(n).
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t begin = 0; begin < order_.size();) {
      const std::int64_t key = keys_[order_[begin]];
      std::size_t end = begin + 1;
      while (end < order_.size() && keys_[order_[end]] == key) ++end;
      visit(key, std::span(order_).subspan(begin, end - begin));
      begin = end;
    }
  }

 private:
  /// A table over the range of ids may be this much larger than their number.
  static constexpr std::size_t kDensity = 16;

  void fill_first(std::size_t range) {
    first_.resize(range + 2);
    std::uint32_t at = 0;
    for (std::size_t offset = 0; offset <= range; ++offset) {
      first_[offset] = at;
      while (at < order_.size() && offset_of(keys_[order_[at]]) == offset) ++at;
    }
    first_.back() = at;
  }
  [[nodiscard]] std::uint64_t offset_of(std::int64_t key) const {
    return static_cast<std::uint64_t>(key) - static_cast<std::uint64_t>(lowest_);
  }
  [[nodiscard]] std::size_t lower_bound(std::int64_t key) const {
    if (!first_.empty()) {
      const std::uint64_t offset = offset_of(key);
      return offset < first_.size() - 1 ? first_[offset] : order_.size();
    }
    const auto value = [this](std::uint32_t entry) { return keys_[entry]; };
    return static_cast<std::size_t>(std::ranges::lower_bound(order_, key, {}, value) -
                                    order_.begin());
  }
  /// Of the entries that hold `key`, which begin at `begin` if there are any.
  [[nodiscard]] std::size_t end_of(std::int64_t key, std::size_t begin) const {
    if (begin == order_.size() || keys_[order_[begin]] != key) return begin;
    if (!first_.empty()) return first_[static_cast<std::size_t>(offset_of(key)) + 1];
    const auto value = [this](std::uint32_t entry) { return keys_[entry]; };
    const auto rest = std::span(order_).subspan(begin);
    return begin +
           static_cast<std::size_t>(std::ranges::upper_bound(rest, key, {}, value) - rest.begin());
  }

  std::span<const std::int64_t> keys_;
  std::vector<std::uint32_t> order_;
  std::int64_t lowest_ = 0;
  std::vector<std::uint32_t> first_;  // empty when the ids are sparse
};

}  // namespace fathom

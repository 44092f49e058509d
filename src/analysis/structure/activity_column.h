// ActivityColumn<T>: a value per device activity, looked up by slice, without a cell for every
// other slice.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Which slices are device activities, and the how-manieth of them each is in the order of the
/// file: a bit per slice with running counts, because activities are few among the slices.
class ActivityIndex {
 public:
  explicit ActivityIndex(const Trace& trace);

  /// Number of activities.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The activities in the order of the file.
  [[nodiscard]] std::vector<SliceId> rows() const;
  [[nodiscard]] bool contains(std::size_t row) const {
    return (words_[row / 64] >> row % 64 & 1U) != 0;
  }
  /// How many activities come before `row` in the file.
  [[nodiscard]] std::size_t rank(std::size_t row) const {
    const std::uint64_t before = words_[row / 64] & ((std::uint64_t{1} << row % 64) - 1);
    return ranks_[row / 64] + static_cast<std::size_t>(std::popcount(before));
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> ranks_;  // activities before each word
  std::size_t size_ = 0;
};

/// One value per activity. Reads like a column over all slices: T() for those that are no activity.
template <typename T>
class ActivityColumn {
 public:
  ActivityColumn() = default;
  /// All T(). The index is shared by the columns of one trace.
  explicit ActivityColumn(std::shared_ptr<const ActivityIndex> index)
      : index_(std::move(index)), values_(index_->size()) {}

  /// A column over the same activities, all U().
  template <typename U>
  [[nodiscard]] ActivityColumn<U> beside() const {
    return ActivityColumn<U>(index_);
  }

  [[nodiscard]] const ActivityIndex& index() const { return *index_; }
  [[nodiscard]] T operator[](std::size_t row) const {
    return index_ && index_->contains(row) ? values_[index_->rank(row)] : T();
  }
  /// The value of an activity, for writing; `row` must be one.
  T& at(std::size_t row) { return values_[index_->rank(row)]; }
  /// The values by rank: activities in the order of the file.
  [[nodiscard]] std::span<T> by_rank() { return values_; }
  [[nodiscard]] std::span<const T> by_rank() const { return values_; }

 private:
  std::shared_ptr<const ActivityIndex> index_;
  std::vector<T> values_;
};

}  // namespace fathom

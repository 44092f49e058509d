// AppendList<T>: rows that several threads append at once and that never move.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/once.h"
#include "store/column.h"

namespace fathom {

/// Rows in segments, each as long as all before it: growing copies nothing, and what was
/// appended stays where it is. At most 2^32 rows.
template <typename T>
class AppendList {
 public:
  /// Appends a row and returns its number. Safe to call from several threads at once; another
  /// thread may read the row once it knows the number.
  std::size_t push_back(const T& value) {
    const std::size_t row = size_.fetch_add(1, std::memory_order_relaxed);
    const Place place = place_of(row);
    created_[place.segment].call(
        [this, place] { segments_[place.segment].resize(std::max(place.first, kFirstRows)); });
    segments_[place.segment][row - place.first] = value;
    return row;
  }

  [[nodiscard]] const T& operator[](std::size_t row) const {
    const Place place = place_of(row);
    return segments_[place.segment][row - place.first];
  }
  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kFirstRows = 64;
  static constexpr std::size_t kSegments = 27;

  struct Place {
    std::size_t segment;
    std::size_t first;  ///< Row with which the segment begins.
  };
  static Place place_of(std::size_t row) {
    const std::size_t units = row / kFirstRows;
    return {static_cast<std::size_t>(std::bit_width(units)), std::bit_floor(units) * kFirstRows};
  }

  std::array<Column<T>, kSegments> segments_;
  std::array<Once, kSegments> created_;
  std::atomic<std::size_t> size_ = 0;
};

}  // namespace fathom

// SliceClasses: one small number for what kind of work a slice is, which a timeline colours by.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// The ids of the classes, by number: "other", the classes of kernels, copies, and kinds of host
/// work.
std::span<const std::string_view> slice_class_ids();

/// Immutable. The trace must outlive it.
class SliceClasses {
 public:
  /// O(slices + distinct kernel names).
  explicit SliceClasses(const Trace& trace);

  [[nodiscard]] std::uint8_t of(SliceId slice) const {
    const std::uint8_t kind = by_category_[trace_.slices.category[slice.row()]];
    return kind == kByName ? by_name_[trace_.slices.name[slice.row()].row()] : kind;
  }

 private:
  static constexpr std::uint8_t kByName = 255;

  const Trace& trace_;
  std::vector<std::uint8_t> by_category_;
  std::vector<std::uint8_t> by_name_;  // of names of kernels
};

}  // namespace fathom

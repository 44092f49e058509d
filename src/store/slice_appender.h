// SliceAppender: adds slices with their details; whoever makes a trace adds them so.
#pragma once

#include "store/trace.h"

namespace fathom {

/// Adds to a trace, counting the slices of its tracks and categories, or to bare tables. What a row
/// does not say is absent. The tables must outlive it.
class SliceAppender {
 public:
  explicit SliceAppender(SliceTables& tables) : tables_(tables) {}
  explicit SliceAppender(Trace& trace) : tables_(trace), counted_(&trace) {}

  SliceId add(const Slices::Row& slice) {
    tables_.slices.append(slice);
    if (counted_ != nullptr) {
      ++counted_->tracks[slice.track.row()].slices;
      ++counted_->categories[slice.category].slices;
    }
    return SliceId(tables_.slices.size() - 1);
  }
  /// `detail`: the row of its kind's table.
  template <typename Detail>
  SliceId add(Slices::Row slice, const Detail& detail) {
    slice.detail = add_detail(detail);
    return add(slice);
  }

  /// The number of the new row.
  std::uint32_t add_detail(const Ops::Row& row) { return add_to(tables_.ops, row); }
  std::uint32_t add_detail(const Kernels::Row& row) { return add_to(tables_.kernels, row); }
  std::uint32_t add_detail(const Copies::Row& row) { return add_to(tables_.copies, row); }
  std::uint32_t add_detail(const Frames::Row& row) { return add_to(tables_.frames, row); }
  std::uint32_t add_detail(const Syncs::Row& row) { return add_to(tables_.syncs, row); }

 private:
  static std::uint32_t add_to(auto& table, const auto& row) {
    table.append(row);
    return static_cast<std::uint32_t>(table.size() - 1);
  }

  SliceTables& tables_;
  Trace* counted_ = nullptr;
};

}  // namespace fathom

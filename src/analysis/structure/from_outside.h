// FromOutside: what holds of a slice because of those around it, found quickly in deep nests, too.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/column.h"
#include "store/trace.h"

namespace fathom {

/// A number for each slice that follows from that of its parent. Deep in a nest it is noted, so
/// that no two questions walk the same way: q of them are O(q + slices). One object answers one
/// question. Thread-safe.
class FromOutside {
 public:
  void resize(std::size_t slices) { noted_.resize(slices); }  // takes no memory until it is used

  /// next(next(0, outermost slice around), …, slice): `next` is given the number of the parent, 0
  /// for none, and the slice. `slice` may be invalid: 0.
  template <typename Next>
  [[nodiscard]] std::uint32_t of(const Column<SliceId>& parent, SliceId slice,
                                 const Next& next) const {
    std::array<SliceId, kNear> near;
    std::size_t depth = 0;
    for (; slice.valid() && depth < kNear; slice = parent[slice.row()]) near[depth++] = slice;
    std::uint32_t number = slice.valid() ? of_deep(parent, slice, next) : 0;
    while (depth > 0) number = next(number, near[--depth]);
    return number;
  }

  /// How many slices are walked through before anything is noted: few recordings nest deeper.
  static constexpr std::size_t kNear = 64;

 private:
  template <typename Next>
  std::uint32_t of_deep(const Column<SliceId>& parent, SliceId slice, const Next& next) const {
    std::vector<SliceId> path;
    for (; slice.valid() && note(slice).load(std::memory_order_relaxed) == 0;
         slice = parent[slice.row()])
      path.push_back(slice);
    std::uint32_t number = slice.valid() ? note(slice).load(std::memory_order_relaxed) - 1 : 0;
    for (; !path.empty(); path.pop_back()) {
      number = next(number, path.back());
      note(path.back()).store(number + 1, std::memory_order_relaxed);
    }
    return number;
  }
  [[nodiscard]] std::atomic_ref<std::uint32_t> note(SliceId slice) const {
    return std::atomic_ref(noted_[slice.row()]);
  }

  mutable Column<std::uint32_t> noted_;  // by slice: the number and 1
};

/// A slice as such a number, and back.
constexpr std::uint32_t number_of(SliceId slice) { return slice.valid() ? slice.value + 1 : 0; }
constexpr SliceId slice_of(std::uint32_t number) {
  return number == 0 ? SliceId() : SliceId(number - 1);
}

/// Of a slice and those around it, the innermost for which matches(slice), or invalid.
template <typename Matches>
SliceId innermost_around(const FromOutside& notes, const Column<SliceId>& parent, SliceId slice,
                         const Matches& matches) {
  for (std::size_t step = 0; step < FromOutside::kNear; ++step) {
    if (!slice.valid() || matches(slice)) return slice;
    slice = parent[slice.row()];
  }
  return slice_of(notes.of(parent, slice, [&](std::uint32_t outside, SliceId at) {
    return matches(at) ? number_of(at) : outside;
  }));
}

/// The outermost of them, or invalid.
template <typename Matches>
SliceId outermost_around(const FromOutside& notes, const Column<SliceId>& parent, SliceId slice,
                         const Matches& matches) {
  return slice_of(notes.of(parent, slice, [&](std::uint32_t outside, SliceId at) {
    return outside == 0 && matches(at) ? number_of(at) : outside;
  }));
}

}  // namespace fathom

// Edits by slice: a column for factors and one for flags, as far as there are any.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "base/out_of_memory.h"
#include "replay/replay.h"

namespace fathom {

/// Memory that is zero without being written: pages that nobody touches cost nothing.
template <typename T>
struct ZeroPages {
  using value_type = T;
  ZeroPages() = default;
  template <typename U>
  explicit ZeroPages(const ZeroPages<U>& /*other*/) {}
  T* allocate(std::size_t count) {
    void* const memory = std::calloc(count, sizeof(T));
    if (memory == nullptr) throw OutOfMemory(count * sizeof(T));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t /*count*/) { std::free(memory); }
  /// It is zero already.
  template <typename U>
  void construct(U* /*at*/) {}
  template <typename U, typename... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    std::construct_at(at, std::forward<Arguments>(arguments)...);
  }
  friend bool operator==(const ZeroPages&, const ZeroPages&) { return true; }
};

/// What is to become of each slice. O(edits) to build.
class SliceEdits {
 public:
  using Flag = std::uint8_t;
  static constexpr Flag kRemoved = 1;
  static constexpr Flag kNoWait = 2;
  static constexpr Flag kHidden = 4;
  static constexpr Flag kAhead = 8;

  SliceEdits(const Edits& edits, const Trace& trace)
      : tracks_(trace.tracks.size()),
        launch_once_(edits.launch_once),
        any_ahead_(!edits.overlap.empty()) {
    const std::size_t slices = trace.slices.size();
    for (const auto& [slice, factor] : edits.scale) tracks_[track_of(trace, slice)] = true;
    for (const SliceId call : edits.remove) tracks_[track_of(trace, call)] = true;
    for (const SliceId slice : edits.overlap) tracks_[track_of(trace, slice)] = true;
    if (!edits.scale.empty() || !edits.remove.empty()) factors_.resize(slices);
    for (const auto& [slice, factor] : edits.scale)
      factors_[slice.row()] = kOne ^ std::bit_cast<std::uint32_t>(std::max(factor, 0.0F));
    for (const SliceId call : edits.remove) factors_[call.row()] = kOne;  // 0
    mark(edits.remove, kRemoved, slices);
    mark(edits.no_wait, kNoWait, slices);
    mark(edits.hide, kHidden, slices);
    mark(edits.overlap, kAhead, slices);
  }

  [[nodiscard]] bool launch_once() const { return launch_once_; }
  [[nodiscard]] bool any_ahead() const { return any_ahead_; }
  [[nodiscard]] bool any_flag() const { return !flags_.empty(); }
  /// Does any edit concern the time of host threads?
  [[nodiscard]] bool any_host() const { return !factors_.empty() || launch_once_ || any_ahead_; }

  /// May the time of a slice of that track change?
  [[nodiscard]] bool any_on(TrackId track) const { return tracks_[track.row()]; }

  [[nodiscard]] double factor(SliceId slice) const {
    if (factors_.empty() || !slice.valid()) return 1.0;
    return double{std::bit_cast<float>(kOne ^ factors_[slice.row()])};
  }
  [[nodiscard]] bool has(SliceId slice, Flag flag) const {
    return !flags_.empty() && slice.valid() && (flags_[slice.row()] & flag) != 0;
  }

 private:
  static std::size_t track_of(const Trace& trace, SliceId slice) {
    return trace.slices.track[slice.row()].row();
  }
  void mark(const std::vector<SliceId>& marked, Flag flag, std::size_t slices) {
    if (marked.empty()) return;
    flags_.resize(slices);
    for (const SliceId slice : marked)
      flags_[slice.row()] = static_cast<Flag>(flags_[slice.row()] | flag);
  }

  static constexpr auto kOne = std::bit_cast<std::uint32_t>(1.0F);

  // By slice, its bits and those of 1; empty: all 1.
  std::vector<std::uint32_t, ZeroPages<std::uint32_t>> factors_;
  std::vector<Flag, ZeroPages<Flag>> flags_;  // by slice; empty: none
  std::vector<bool> tracks_;                  // with scaled, removed or moved slices
  bool launch_once_;
  bool any_ahead_;
};

}  // namespace fathom

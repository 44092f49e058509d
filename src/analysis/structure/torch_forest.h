// The forest of host events as torch builds it for key_averages(): without utilities, asynchronous
// events and repeated only children.
#pragma once

#include <cstdint>

#include "analysis/structure/nesting.h"
#include "analysis/structure/torch_names.h"
#include "store/column.h"
#include "store/trace.h"

namespace fathom {

/// Per slice columns; meaningful for host work and profiler overhead.
class TorchForest {
 public:
  TorchForest(const Trace& trace, const Nesting& nesting, const TorchNames& names);

  /// A row of key_averages() counts it: host work or overhead, no utility, not a dropped only
  /// child.
  [[nodiscard]] bool is_counted(SliceId slice) const {
    return (flags_[slice.row()] & kCounted) != 0;
  }
  /// Counted, but with no place in the forest: neither parent nor child, no self time.
  [[nodiscard]] bool is_asynchronous(SliceId slice) const {
    return (flags_[slice.row()] & kAsynchronous) != 0;
  }
  /// torch replaces the device work of an event whose only child it drops by that child's.
  [[nodiscard]] bool lost_its_kernels(SliceId slice) const {
    return (flags_[slice.row()] & kReplaced) != 0;
  }
  /// The counted parent, or invalid. For dropped only children: the event that stands for them.
  [[nodiscard]] SliceId parent(SliceId slice) const { return parent_[slice.row()]; }
  /// The nearest event in the forest that is `slice` or around it, or invalid.
  [[nodiscard]] SliceId at_or_above(SliceId slice) const;
  /// The counted event that owns what was launched in `op`, or invalid. `op` may be invalid.
  [[nodiscard]] SliceId owner(SliceId op) const {
    return !op.valid() || is_asynchronous(op) ? op : at_or_above(op);
  }

 private:
  // Bits of flags_.
  static constexpr std::uint8_t kChildren = 3;  // number of children before dropping, 2 for more
  static constexpr std::uint8_t kCounted = 4;
  static constexpr std::uint8_t kAsynchronous = 8;
  static constexpr std::uint8_t kDropped = 16;
  static constexpr std::uint8_t kReplaced = 32;

  void nest(const Trace& trace, const TorchNames& names, const Nesting::Thread& thread);
  void drop_only_children(const Trace& trace, const TorchNames& names,
                          const Nesting::Thread& thread);

  const Nesting& nesting_;
  Column<SliceId> parent_;
  Column<std::uint8_t> flags_;
};

}  // namespace fathom

// KnownStacks: the native functions that were met below stacks of Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sample/frame_names.h"
#include "sample/native/thread_reader.h"
#include "sample/stack.h"

namespace fathom::sample {

/// Of one thread, those that were met last.
class KnownStacks {
 public:
  static constexpr std::size_t kMost = 16;
  struct Known {
    std::vector<Frame> python;     ///< The innermost first.
    native::BlockedAt at;          ///< Where a thread that waits is; of one that runs it is unset.
    std::vector<FrameLook> mixed;  ///< Python's functions and native ones; empty: no native ones.
    std::int64_t time = 0;         ///< When they were met, CLOCK_MONOTONIC, ns.
  };

  /// In place of what was noted of the same stack. Of no stack nothing is noted.
  void note(Known known);
  /// Where Python's stack was the same, to the instruction; null: nothing. Valid until the next
  /// note().
  [[nodiscard]] const Known* find(std::span<const Frame> python,
                                  const native::BlockedAt& at = {}) const;
  [[nodiscard]] bool empty() const { return known_.empty(); }
  void clear() { known_.clear(); }

 private:
  std::vector<Known> known_;  ///< The last first.
};

}  // namespace fathom::sample

// Processor time of a program that no sample has: of threads and processes that ended before they
// were looked at.
#pragma once

#include <cstdint>
#include <string>

#include "store/trace.h"

namespace fathom {

/// What the program used by the kernel's count when it ended, its children with it, less what was
/// sampled: a lower bound. 0 where that is little, where the count is not known, and where
/// processes were left to PyTorch's profiler. O(samples).
Duration unsampled_time(const Trace& trace);

/// Threads that Python started, of those that were sampled and of those that ended before.
struct StartedThreads {
  std::uint64_t all = 0;
  std::uint64_t unseen = 0;  ///< No sample is theirs.
  /// "7 of 220 threads that Python started ended before they were looked at"; "" where none did.
  [[nodiscard]] std::string text() const;
};
/// O((slices + samples) * log threads).
StartedThreads started_threads(const Trace& trace);

}  // namespace fathom

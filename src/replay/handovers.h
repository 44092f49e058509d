// When one host thread set another going, and when it waited for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/context.h"

namespace fathom {

/// A stretch of work on a thread that another thread (its feeder: the main thread of the process)
/// set going.
struct ThreadRun {
  std::uint32_t thread = 0;  ///< Row of Nesting::work.
  std::uint32_t feeder = 0;  ///< Row of Nesting::work.
  Interval interval{};
  std::optional<Time> fed;  ///< The last moment before the run at which the feeder did something.
  std::optional<Time> resumed;  ///< The first after it, where the feeder waited for the run.
};

/// Work on threads other than the main thread of their process begins anew where the main thread
/// did something since the work before ended; without that it goes on. The main thread waited for
/// what ran while it did nothing, if that is backward work, or as long as half of that time and not
/// inside an operator of the main thread. By thread, then time. O(n log n).
std::vector<ThreadRun> compute_thread_runs(const Context& context);

/// Row of Nesting::work of each process's main thread, by row of Nesting::work: the thread with the
/// steps, else the one whose outermost slices take the longest.
std::vector<std::uint32_t> main_threads(const Context& context);

}  // namespace fathom

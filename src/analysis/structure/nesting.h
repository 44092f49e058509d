// The call forest of every host thread: who is inside whom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/column.h"
#include "store/trace.h"

namespace fathom {

/// Parents and order of host slices. Three forests that do not mix: host work (operators,
/// annotations, runtime and driver calls, plain slices), Python frames, and everything else on host
/// threads. Rule (docs/metrics.md): on one thread sort by (start, -end, file order); pop the stack
/// while start >= top.end or end > top.end; the top is the parent.
struct Nesting {
  /// Per slice: its parent in its forest, or an invalid id for roots and for device slices.
  Column<SliceId> parent;
  /// Host-work slices of one thread in nesting order: parents before their children.
  struct Thread {
    TrackId track;
    std::vector<SliceId> slices;
  };
  std::vector<Thread> work;    ///< Host work, one entry per host thread that has any.
  std::vector<Thread> frames;  ///< Python frames, likewise.
  std::vector<Thread> rest;    ///< Everything else on host threads: overhead, the profiler's spans.
  /// Slices popped although they end later than the slice that popped them: partial overlaps.
  std::uint64_t overlaps = 0;
  SliceId first_overlap{};
};

Nesting compute_nesting(const Trace& trace);

/// Per slice: its duration less its direct children's durations. Device slices: their duration.
Column<Duration> self_times(const Trace& trace, const Nesting& nesting);

/// The innermost slice of `thread` (in nesting order) that contains [at, end], or invalid. O(log n
/// + depth).
SliceId innermost_at(const Trace& trace, const Nesting& nesting, const Nesting::Thread& thread,
                     Time at, Time end);

}  // namespace fathom

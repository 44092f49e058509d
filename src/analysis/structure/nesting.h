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
  /// Per slice that lies deep: the number, and 1, of a slice further outside, from which one comes
  /// to any around it in O(log depth). Elsewhere 0, which takes no memory.
  Column<std::uint32_t> leap;
  /// Slices of one thread in nesting order: parents before their children.
  struct Thread {
    TrackId track;
    std::vector<SliceId> slices;
  };
  // One entry per host thread that has any, in the order of tracks.
  std::vector<Thread> work;    ///< Host work.
  std::vector<Thread> frames;  ///< Python frames, likewise.
  std::vector<Thread> rest;    ///< Everything else on host threads: overhead, the profiler's spans.
  /// Slices popped although they end later than the slice that popped them: partial overlaps.
  std::uint64_t overlaps = 0;
  SliceId first_overlap{};
};

Nesting compute_nesting(const Trace& trace);

/// The order of the slices of a thread: by start, the longest first, then as in the file.
inline bool nests_before(const Trace& trace, SliceId a, SliceId b) {
  const Slices& slices = trace.slices;
  if (slices.start[a.row()] != slices.start[b.row()])
    return slices.start[a.row()] < slices.start[b.row()];
  if (slices.duration[a.row()] != slices.duration[b.row()])
    return slices.duration[a.row()] > slices.duration[b.row()];
  return a < b;
}

/// The thread of a forest that is on this track, or nullptr. O(log threads).
const Nesting::Thread* thread_on(const std::vector<Nesting::Thread>& forest, TrackId track);

/// Of a slice and those around it, the innermost for which holds(slice), or invalid. What holds of
/// a slice must hold of those around it, as that they contain a moment. O(log depth).
template <typename Holds>
SliceId innermost_holding(const Nesting& nesting, SliceId slice, const Holds& holds) {
  while (slice.valid() && !holds(slice)) {
    const std::uint32_t far = nesting.leap[slice.row()];
    const SliceId next = far == 0 ? SliceId() : SliceId(far - 1);
    slice = next.valid() && !holds(next) ? next : nesting.parent[slice.row()];
  }
  return slice;
}

/// Per slice: its duration less its direct children's durations. Device slices: their duration.
Column<Duration> self_times(const Trace& trace, const Nesting& nesting);

/// The innermost slice of `thread` (in nesting order) that contains [at, end], or invalid. O(log
/// n).
SliceId innermost_at(const Trace& trace, const Nesting& nesting, const Nesting::Thread& thread,
                     Time at, Time end);

}  // namespace fathom

// A host thread cut at every begin and end of its slices: who was the innermost, when.
#pragma once

#include <algorithm>

#include "analysis/structure/nesting.h"
#include "store/trace.h"

namespace fathom {

/// Calls visit(owner, interval) for the stretches of `window` on `thread` in the order of time:
/// disjoint, touching, never empty; `owner` is the innermost slice, or invalid where there is none.
/// From the thread's first slice in or around the window to the end of its last one. O(log n +
/// slices inside).
template <typename Visit>
void for_each_piece(const Trace& trace, const Nesting& nesting, const Nesting::Thread& thread,
                    Interval window, const Visit& visit) {
  const Slices& slices = trace.slices;
  const auto start_of = [&slices](SliceId slice) { return slices.start[slice.row()]; };
  auto next = std::ranges::lower_bound(thread.slices, window.begin, {}, start_of);
  SliceId top = next == thread.slices.begin() ? SliceId() : *(next - 1);
  top = innermost_holding(nesting, top,
                          [&](SliceId slice) { return slices.end(slice) > window.begin; });
  Time at = top.valid() || next == thread.slices.end() ? window.begin
                                                       : std::max(window.begin, start_of(*next));
  const auto emit = [&](SliceId owner, Time end) {
    end = std::min(end, window.end);
    if (end <= at) return;
    visit(owner, Interval{at, end});
    at = end;
  };
  for (; next != thread.slices.end() && start_of(*next) < window.end; ++next) {
    const SliceId parent = nesting.parent[next->row()];
    const Time start = start_of(*next);
    for (; top.valid() && top != parent; top = nesting.parent[top.row()])
      emit(top, std::min(slices.end(top), start));
    emit(parent, start);
    top = *next;
  }
  for (; top.valid() && at < window.end; top = nesting.parent[top.row()])
    emit(top, slices.end(top));
}

}  // namespace fathom

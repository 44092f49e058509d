// Looks statements up by thread and time, and those of the backward pass by sequence number.
#include "analysis/lines/line_owners.h"

namespace fathom {

LineOwners::LineOwners(const Context& context, const LineRuns& runs)
    : trace_(context.trace),
      nesting_(context.nesting()),
      runs_(runs),
      forward_(context.trace),
      backward_(context.trace.tracks.size()),
      works_(context.trace.tracks.size(), nullptr) {
  notes_.resize(trace_.slices.size());
  for (const Nesting::Thread& thread : nesting_.work) {
    works_[thread.track.row()] = &thread;
    for (const SliceId slice : thread.slices) {
      if (!sequence_of(trace_, slice).is_backward()) continue;
      backward_[thread.track.row()] = true;
      break;
    }
  }
}

const LineRuns::Thread* LineOwners::thread_of(TrackId track) const {
  const LineRuns::Thread* const own = runs_.of(track);
  return own != nullptr || !backward_[track.row()] ? own : runs_.leader_of(track);
}

LineShares::Key LineOwners::line_at(TrackId track, Time time) const {
  const LineRuns::Thread* const thread = thread_of(track);
  return {trace_.tracks[track.row()].pid, thread == nullptr ? StringId() : thread->at(time)};
}

SliceId LineOwners::forward_of(SliceId slice) const {
  const SliceId backward = innermost_around(notes_, nesting_.parent, slice,
                                            [this](SliceId at) { return forward_.of(at).valid(); });
  return backward.valid() ? forward_.of(backward) : SliceId();
}

LineOwners::Owner LineOwners::of(SliceId slice) const {
  if (!slice.valid()) return {};
  const SliceId forward = forward_of(slice);
  const SliceId at = forward.valid() ? forward : slice;
  return {line_at(trace_.slices.track[at.row()], trace_.slices.start[at.row()]), forward.valid()};
}

LineOwners::Owner LineOwners::at(TrackId track, Time time) const {
  if (const Nesting::Thread* const work = works_[track.row()]) {
    const SliceId around = innermost_at(trace_, nesting_, *work, time, time);
    const SliceId forward = forward_of(around);
    if (forward.valid()) return of(around);
  }
  return {line_at(track, time), false};
}

}  // namespace fathom

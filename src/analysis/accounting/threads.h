// What host threads do, as far as it explains idle devices: the state of a slice, and who leads
// whom.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/accounting/accounting.h"
#include "analysis/accounting/syncs.h"
#include "analysis/context.h"
#include "analysis/structure/from_outside.h"

namespace fathom {

/// The host threads of a trace. Borrows the context. Not thread-safe: names are classified when
/// first met.
class HostThreads {
 public:
  explicit HostThreads(const Context& context);

  /// What being inside this slice of host work alone shows: input, allocation, sync, dispatch, or
  /// python for annotations, which show nothing. The strongest of a slice and those around it, in
  /// the order of Bucket, holds: state_around().
  [[nodiscard]] Bucket state(SliceId slice) const;
  /// The strongest of a slice and those around it; python where `slice` is invalid.
  [[nodiscard]] Bucket state_around(SliceId slice) const;
  /// Does the time in a slice, and in the calls inside it, belong to it? The time in calls belongs
  /// to the operator around them, all time of a fetch to the fetch. `around`: state_around() its
  /// parent.
  [[nodiscard]] bool owns_time(SliceId slice, Bucket around) const {
    return around != Bucket::input && is_operator(slice);
  }
  /// Whom the time in a slice belongs to: it or one around it. Invalid where there is none.
  [[nodiscard]] SliceId owner_around(SliceId slice) const;
  /// The outermost synchronising call of a thread that began before `at` and had not returned by
  /// then, or invalid; `around` is the thread's last slice to begin before `at`.
  [[nodiscard]] SliceId sync_around(SliceId around, Time at) const;

  /// Host work and Python frames of a thread, or nullptr.
  [[nodiscard]] const Nesting::Thread* work(TrackId track) const { return work_[track.row()]; }
  [[nodiscard]] const Nesting::Thread* frames(TrackId track) const { return frames_[track.row()]; }
  /// Data-loader fetches of a thread that only its Python frames show: sorted, disjoint. Empty
  /// where the trace holds the data loader's own annotations.
  [[nodiscard]] const std::vector<Interval>& fetches(TrackId track) const {
    return fetches_[track.row()];
  }

  /// The thread that leads a process: with the most ProfilerStep time, else the most operator time,
  /// that of the backward pass aside. Invalid for a process without host work.
  [[nodiscard]] TrackId main_of(StringId process) const;
  /// The one of all processes.
  [[nodiscard]] TrackId main() const { return main_; }
  /// The one that did the work of a step, whose slice may lie in a lane beside it.
  [[nodiscard]] TrackId of(const Step& step) const {
    return answering_[trace_.slices.track[step.slice.row()].row()];
  }

 private:
  /// As recorded, but that ranges of the program that were recorded as operators are annotations.
  [[nodiscard]] SliceKind kind_of(SliceId slice) const;
  [[nodiscard]] bool is_operator(SliceId slice) const;
  void find_mains();
  void find_fetches();

  const Context& context_;
  const Trace& trace_;
  SyncReasons syncs_;
  std::vector<const Nesting::Thread*> work_;    // by track
  std::vector<const Nesting::Thread*> frames_;  // by track
  std::vector<std::vector<Interval>> fetches_;  // by track
  std::vector<TrackId> answering_;              // by track
  std::map<StringId, TrackId> mains_;
  TrackId main_;
  std::array<SliceKind, 256> kinds_{};  // by category
  std::vector<bool> ranges_;  // by name: ranges among operators; empty where there is none
  FromOutside sync_notes_;
  FromOutside state_notes_;
  FromOutside owner_notes_;
  mutable std::vector<std::uint8_t> state_of_name_;  // low half: as an operator, high: annotation
};

}  // namespace fathom

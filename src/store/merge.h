// Appends a recording of Fathom's own to another recording of the same run, on the common clock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/same_work.h"
#include "store/trace.h"

namespace fathom {

struct MergeOptions {
  /// Only what lies in the base's span is taken: slices that overlap it and instants in it. Else
  /// all, and the span widens. Samples are always taken: they are of the whole run.
  bool within_span = true;
  /// How far the two clocks may be apart, as both state it together.
  std::int64_t clock_error_ns = 10'000;
  /// Put before the keys of facts, with a space, where the base has another value of that key.
  std::string prefix;
};

/// What was taken and what was not.
struct MergeCounts {
  std::uint64_t slices = 0;
  std::uint64_t samples = 0;
  std::uint64_t instants = 0;
  std::uint64_t slices_outside = 0;
  std::uint64_t instants_outside = 0;
  std::uint64_t slices_known = 0;  ///< Steps, where the base has its own.
  std::uint64_t activities = 0;    ///< Device activities among `slices`.
  /// What both saw, and is counted once: device activities, calls, ranges (store/same_work.h).
  std::uint64_t activities_known = 0;
  std::uint64_t calls_known = 0;
  std::uint64_t ranges_known = 0;
  /// Device activities that the base has in another form: not taken.
  std::uint64_t activities_doubtful = 0;
  std::uint64_t not_taken = 0;  ///< Flows, collectives; waits and allocator events of a base's own.
  /// How far the clocks were found apart, and whether that is more than they state.
  std::optional<ClockDistance> distance;
  bool beyond_error = false;
  /// The other's steps on the base's clock, also those that were not taken: number, start, end.
  std::vector<std::array<std::int64_t, 3>> steps;
  bool no_common_clock = false;  ///< One has no Unix time: nothing that has a time was taken.

  MergeCounts& operator+=(const MergeCounts& more);
};

/// Appends `other` to `base`: slices, samples, instants, numbers, process runs, functions and
/// facts. Times are shifted exactly by the difference of the origins. Threads of processes that the
/// base does not know become tracks; so do counters. Slices on threads that the base recorded
/// itself go onto an async track beside the thread ("fathom 1234"), because two recorders' slices
/// need not nest to the nanosecond, but for steps and fetches where the base has none, and for
/// runtime and driver calls. Device work, calls and ranges that both saw are taken once; streams
/// are the base's where it has them. Correlation ids are changed where they mean another thing in
/// the base. The base keeps its rows, and its span where `within_span`; the other's steps are then
/// counted in MergeCounts. O(rows of both).
MergeCounts merge_into(Trace& base, const Trace& other, const MergeOptions& options);

}  // namespace fathom

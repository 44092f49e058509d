// SameWork: what two recordings of one process both saw, so that nothing is counted twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// How far the clocks of two recordings were found apart, by events that both hold.
struct ClockDistance {
  std::int64_t offset_ns = 0;  ///< The other's times less the base's: the most frequent.
  std::uint64_t events = 0;    ///< By how many events.
};

/// What the GPU of a process is called in a recording that has another process' GPU already.
std::string gpu_of_process(std::int32_t device, std::int64_t pid);
/// True for such a name.
bool is_gpu_of_process(std::string_view name);

/// What became of the other's device work, calls and ranges.
struct SameWork {
  static constexpr std::uint32_t kNew = SliceId::kNone;

  /// By the other's slice: the base's slice that is the same, or kNew.
  std::vector<std::uint32_t> twin;
  /// By the other's slice: true where it is not to be taken though it has no twin: the two show
  /// different things of the same stretch of a device, and nobody can say what is the same.
  std::vector<bool> doubtful;
  std::uint64_t activities = 0;           ///< Device activities with a twin.
  std::uint64_t calls = 0;                ///< Runtime and driver calls with a twin.
  std::uint64_t ranges = 0;               ///< Annotations with a twin.
  std::uint64_t doubtful_activities = 0;  ///< Device activities that are doubtful.
  std::optional<ClockDistance> distance;  ///< Where there are twins.
  bool beyond_error = false;              ///< Its offset is more than the clocks' stated errors.
  /// The other's correlation ids, in the base's words.
  std::unordered_map<std::int64_t, std::int64_t> correlations;
  /// True where ids stay as they are.
  bool same_ids = true;
  bool same_process = true;          ///< False: no event can be the same.
  std::int64_t other_pid = kAbsent;  ///< Of the process whose device work the other holds.
};

/// Pairs device activities of one device, stream, kind, name and length; calls and ranges of one
/// thread and name. Two are the same when their times differ by the clocks' offset, which is what
/// most pairs within `error_ns` say; with equal correlation ids it may be larger. Each event has at
/// most one twin. `shift` is added to the other's times. O(n log n).
SameWork find_same_work(const Trace& base, const Trace& other, Duration shift,
                        std::int64_t error_ns);

}  // namespace fathom

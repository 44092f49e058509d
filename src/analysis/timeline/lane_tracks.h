// Every slice of a trace in a lane of a track, as a timeline shows them: nothing is left out.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/timeline/lane.h"
#include "store/trace.h"

namespace fathom {

/// What of a trace's track a track of the timeline shows.
enum class TrackPart : std::uint8_t {
  work,        ///< Of a host thread: all but Python frames. Of asynchronous ranges: all.
  frames,      ///< Of a host thread: Python frames.
  activities,  ///< Of a device stream: kernels, copies, fills.
  projected,   ///< Of a device stream: annotations, waits and what else occupies no device.
};
inline constexpr std::uint32_t kTrackParts = static_cast<std::uint32_t>(TrackPart::projected) + 1;

/// A track has at most so many lanes; what lies deeper is in another track with the same part.
inline constexpr std::size_t kLanesOfTrack = 256;

/// A slice lies in the first free lane below the one that it is inside of; where slices overlap
/// without one being inside of the other, in the first that is free. Within a lane they begin one
/// after the other.
struct LaneTrack {
  TrackId track;
  TrackPart part = TrackPart::work;
  std::uint32_t first_lane = 0;  ///< Of the track and part: 0, or a multiple of kLanesOfTrack.
  std::vector<Lane> lanes;
  std::uint64_t slices = 0;
  Duration covered{};  ///< Σ of the durations.
};

/// Immutable. The trace must outlive it.
class LaneTracks {
 public:
  /// O(n log n), linear in n where the file is nearly in order.
  explicit LaneTracks(const Trace& trace);

  /// By track of the trace, part and first lane; those without slices are left out.
  [[nodiscard]] const std::vector<LaneTrack>& tracks() const { return tracks_; }

  /// Where a slice lies: places in tracks() and in its lanes. O(lanes of its track * log n).
  struct Place {
    std::size_t track = 0;
    std::size_t lane = 0;
    std::size_t place = 0;  ///< In the lane.
  };
  [[nodiscard]] Place find(SliceId slice) const;
  /// Which part of its track a slice is shown in.
  [[nodiscard]] TrackPart part_of(SliceId slice) const;

 private:
  const Trace& trace_;
  std::vector<LaneTrack> tracks_;
};

}  // namespace fathom

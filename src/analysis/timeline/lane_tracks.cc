// Divides slices by track and part, orders them, and gives each its lane.
#include "analysis/timeline/lane_tracks.h"

#include <algorithm>
#include <array>

#include "analysis/timeline/free_lanes.h"
#include "analysis/util/row_order.h"
#include "base/parallel.h"
#include "base/stop.h"

namespace fathom {
namespace {

TrackPart part_of_kind(SliceKind kind, TrackKind track) {
  if (track == TrackKind::device_stream)
    return is_device_activity(kind) ? TrackPart::activities : TrackPart::projected;
  if (track == TrackKind::host_thread && kind == SliceKind::python_function)
    return TrackPart::frames;
  return TrackPart::work;
}

/// The slices of one part of a track, in the order of the file at first.
struct Group {
  TrackId track;
  TrackPart part{};
  std::vector<SliceId> slices;
  std::vector<LaneTrack> made;
};

class Parts {
 public:
  explicit Parts(const Trace& trace) : trace_(trace) {}
  [[nodiscard]] std::size_t key(std::size_t row) const {
    const std::size_t track = trace_.slices.track[row].row();
    const SliceKind kind = trace_.categories[trace_.slices.category[row]].kind;
    return track * kTrackParts +
           static_cast<std::size_t>(part_of_kind(kind, trace_.tracks[track].kind));
  }

 private:
  const Trace& trace_;
};

std::vector<Group> divide(const Trace& trace) {
  const Parts parts(trace);
  std::vector<std::uint32_t> counts(trace.tracks.size() * kTrackParts);
  for (std::size_t row = 0; row < trace.slices.size(); ++row) ++counts[parts.key(row)];
  std::vector<Group> groups;
  std::vector<std::uint32_t> group_of(counts.size());
  for (std::size_t key = 0; key < counts.size(); ++key) {
    if (counts[key] == 0) continue;
    group_of[key] = static_cast<std::uint32_t>(groups.size());
    groups.push_back({.track = TrackId(key / kTrackParts),
                      .part = static_cast<TrackPart>(key % kTrackParts),
                      .slices = {},
                      .made = {}});
    groups.back().slices.reserve(counts[key]);
  }
  for (std::size_t row = 0; row < trace.slices.size(); ++row)
    groups[group_of[parts.key(row)]].slices.push_back(SliceId(row));
  return groups;
}

/// The lanes of a group: the slices in order, each with its lane.
class LaneMaker {
 public:
  explicit LaneMaker(const Trace& trace) : slices_(trace.slices) {}

  std::vector<std::vector<SliceId>> make(const std::vector<SliceId>& order) {
    for (const SliceId slice : order) add(slice);
    return std::move(lanes_);
  }

 private:
  struct Open {
    Time end;
    std::size_t lane;
  };

  void add(SliceId slice) {
    const Time start = slices_.start[slice.row()];
    const Time end = slices_.end(slice);
    // As the nesting of docs/metrics.md: what ends before we do is not around us.
    while (!open_.empty() && (start >= open_.back().end || end > open_.back().end))
      open_.pop_back();
    const std::size_t below = open_.empty() ? 0 : open_.back().lane + 1;
    const std::size_t lane = free_.take(below, start, std::max(end, start + Duration(1)));
    if (lane >= lanes_.size()) lanes_.resize(lane + 1);
    lanes_[lane].push_back(slice);
    open_.push_back({end, lane});
  }

  const Slices& slices_;
  FreeLanes free_;
  std::vector<Open> open_;
  std::vector<std::vector<SliceId>> lanes_;
};

void make_tracks(const Trace& trace, Group& group) {
  const Slices& slices = trace.slices;
  const auto before = [&slices](SliceId a, SliceId b) {
    const Time start_a = slices.start[a.row()];
    const Time start_b = slices.start[b.row()];
    if (start_a != start_b) return start_a < start_b;
    return slices.duration[a.row()] > slices.duration[b.row()];
  };
  sort_rows(std::span<SliceId>(group.slices), before);
  std::vector<std::vector<SliceId>> lanes = LaneMaker(trace).make(group.slices);
  group.slices = {};
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (lane % kLanesOfTrack == 0) {
      group.made.push_back({.track = group.track,
                            .part = group.part,
                            .first_lane = static_cast<std::uint32_t>(lane),
                            .lanes = {}});
    }
    LaneTrack& track = group.made.back();
    track.slices += lanes[lane].size();
    track.lanes.emplace_back(trace, std::move(lanes[lane]));
    track.covered += track.lanes.back().before(track.lanes.back().size());
  }
}

}  // namespace

LaneTracks::LaneTracks(const Trace& trace) : trace_(trace) {
  std::vector<Group> groups = divide(trace);
  std::vector<Group*> largest_first;
  largest_first.reserve(groups.size());
  for (Group& group : groups) largest_first.push_back(&group);
  std::ranges::sort(largest_first, std::ranges::greater(),
                    [](const Group* group) { return group->slices.size(); });
  const bool large = trace.slices.size() > kWorthThreads;
  for_each_in_parallel(largest_first.size(), large ? 0 : 1, [&](std::size_t i) {
    stop_point();
    make_tracks(trace, *largest_first[i]);
  });
  for (Group& group : groups) {
    for (LaneTrack& track : group.made) tracks_.push_back(std::move(track));
  }
}

TrackPart LaneTracks::part_of(SliceId slice) const {
  return part_of_kind(trace_.kind(slice), trace_.track(slice).kind);
}

LaneTracks::Place LaneTracks::find(SliceId slice) const {
  const std::pair key{trace_.slices.track[slice.row()], part_of(slice)};
  const auto key_of = [](const LaneTrack& track) { return std::pair(track.track, track.part); };
  auto at = std::ranges::lower_bound(tracks_, key, {}, key_of);
  for (; at != tracks_.end() && key_of(*at) == key; ++at) {
    for (std::size_t lane = 0; lane < at->lanes.size(); ++lane) {
      const std::size_t place = at->lanes[lane].find(slice);
      if (place < at->lanes[lane].size())
        return {static_cast<std::size_t>(at - tracks_.begin()), lane, place};
    }
  }
  return {tracks_.size(), 0, 0};
}

}  // namespace fathom

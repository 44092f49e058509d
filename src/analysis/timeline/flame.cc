// Walks the lanes of tracks in nesting order with the path that is open.
#include "analysis/timeline/flame.h"

#include <algorithm>
#include <unordered_map>

namespace fathom {
namespace {

class FlameMaker {
 public:
  FlameMaker(const Trace& trace, Interval stretch) : slices_(trace.slices), stretch_(stretch) {
    paths_.push_back({});
  }

  /// Slices in nesting order; those of another track may follow.
  void begin_track() { open_.clear(); }
  void add(SliceId slice) {
    const Time start = slices_.start[slice.row()];
    const Time end = slices_.end(slice);
    while (!open_.empty() && (start >= open_.back().end || end > open_.back().end))
      open_.pop_back();
    const std::uint32_t above = open_.empty() ? 0 : open_.back().path;
    const Duration inside = std::min(end, stretch_.end) - std::max(start, stretch_.begin);
    if (paths_[above].depth >= kFlameDepth) return;
    const bool touches = inside > Duration{} || (start >= stretch_.begin && start < stretch_.end);
    if (!touches) return;
    const std::uint32_t path = child(above, slices_.name[slice.row()]);
    const Duration time = std::max(inside, Duration{});
    ++paths_[path].slices;
    paths_[path].total += time;
    paths_[path].self += time;
    if (above == 0) {
      paths_[0].total += time;
    } else {
      paths_[above].self -= time;
    }
    open_.push_back({end, path});
  }

  std::vector<FlamePath> take() { return std::move(paths_); }

 private:
  struct Open {
    Time end;
    std::uint32_t path;
  };

  std::uint32_t child(std::uint32_t above, StringId name) {
    const std::uint64_t key = (std::uint64_t{above} << 32U) | name.value;
    const auto [at, added] = children_.try_emplace(key, static_cast<std::uint32_t>(paths_.size()));
    if (added) paths_.push_back({.name = name, .parent = above, .depth = paths_[above].depth + 1});
    return at->second;
  }

  const Slices& slices_;
  Interval stretch_;
  std::vector<FlamePath> paths_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
  std::vector<Open> open_;
};

/// The slices of the track that touch the stretch, in nesting order.
std::vector<SliceId> inside(const Trace& trace, const LaneTrack& track, Interval stretch) {
  std::vector<SliceId> slices;
  for (const Lane& lane : track.lanes) {
    const auto [from, to] = lane.inside(stretch);
    const std::span<const SliceId> some = lane.slices().subspan(from, to - from);
    slices.insert(slices.end(), some.begin(), some.end());
  }
  std::ranges::stable_sort(slices, [&trace](SliceId a, SliceId b) {
    const Time start_a = trace.slices.start[a.row()];
    const Time start_b = trace.slices.start[b.row()];
    if (start_a != start_b) return start_a < start_b;
    return trace.slices.duration[a.row()] > trace.slices.duration[b.row()];
  });
  return slices;
}

}  // namespace

std::vector<FlamePath> flame_of(const Context& context, const LaneTracks& lanes,
                                std::span<const std::size_t> tracks, Interval stretch) {
  FlameMaker maker(context.trace, stretch);
  for (const std::size_t place : tracks) {
    const LaneTrack& track = lanes.tracks()[place];
    maker.begin_track();
    for (const SliceId slice : inside(context.trace, track, stretch)) {
      if (track.part == TrackPart::activities) maker.begin_track();
      maker.add(slice);
    }
  }
  return maker.take();
}

}  // namespace fathom

// Walks the lanes of tracks in nesting order with the path that is open.
#include "analysis/timeline/flame.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/stop.h"

namespace fathom {
namespace {

/// So often somebody looks whether the answer is still wanted.
constexpr std::size_t kSlicesToStop = std::size_t{1} << 14U;

struct Allocation {
  Time time;
  std::int64_t bytes;
};

class FlameMaker {
 public:
  FlameMaker(const Trace& trace, Interval stretch) : slices_(trace.slices), stretch_(stretch) {
    paths_.push_back({});
  }

  /// Slices in nesting order; those of another track may follow.
  void begin_track() { open_.clear(); }
  /// Allocations of the track whose slices follow, by time.
  void begin_track(std::vector<Allocation> allocations) {
    begin_track();
    allocations_ = std::move(allocations);
    allocated_ = 0;
  }
  void end_track() { allocate_until(Time::max()); }
  void add(SliceId slice) {
    const Time start = slices_.start[slice.row()];
    const Time end = slices_.end(slice);
    allocate_until(start);
    while (!open_.empty() && (start >= open_.back().end || end > open_.back().end))
      open_.pop_back();
    const std::uint32_t above = open_.empty() ? 0 : open_.back().path;
    const Duration inside = std::min(end, stretch_.end) - std::max(start, stretch_.begin);
    if (paths_[above].depth >= kFlameDepth) return;
    const bool touches = inside > Duration{} || (start >= stretch_.begin && start < stretch_.end);
    if (!touches) return;
    const std::uint32_t path = child(above, slices_.name[slice.row()], start);
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

  std::vector<FlamePath> take() {
    for (FlamePath& path : paths_) path.bytes = path.self_bytes;
    // Parents lie before their children.
    for (std::size_t path = paths_.size(); path-- > 1;)
      paths_[paths_[path].parent].bytes += paths_[path].bytes;
    return std::move(paths_);
  }

 private:
  struct Open {
    Time end;
    std::uint32_t path;
  };

  /// Allocations before `time` are of the innermost call that is open at theirs.
  void allocate_until(Time time) {
    for (; allocated_ < allocations_.size() && allocations_[allocated_].time < time; ++allocated_) {
      const Allocation& one = allocations_[allocated_];
      while (!open_.empty() && open_.back().end <= one.time) open_.pop_back();
      if (!open_.empty()) paths_[open_.back().path].self_bytes += one.bytes;
    }
  }

  std::uint32_t child(std::uint32_t above, StringId name, Time start) {
    const std::uint64_t key = (std::uint64_t{above} << 32U) | name.value;
    const auto [at, added] = children_.try_emplace(key, static_cast<std::uint32_t>(paths_.size()));
    if (added) {
      paths_.push_back(
          {.name = name, .parent = above, .depth = paths_[above].depth + 1, .first = start});
    }
    FlamePath& path = paths_[at->second];
    path.first = std::min(path.first, start);
    return at->second;
  }

  const Slices& slices_;
  Interval stretch_;
  std::vector<FlamePath> paths_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
  std::vector<Open> open_;
  std::vector<Allocation> allocations_;
  std::size_t allocated_ = 0;  // of those, how many were added
};

/// Rows of the allocations that no later free before `time` ends. Rows are in the order of time.
std::vector<bool> alive(const MemoryEvents& memory, Time time) {
  std::vector<bool> alive(memory.size());
  bool any_of_device = false;
  for (std::size_t row = 0; row < memory.size(); ++row)
    any_of_device = any_of_device || memory.device_type[row] > 0;
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < memory.size(); ++row) {
    if (memory.time[row] <= time && (!any_of_device || memory.device_type[row] > 0))
      rows.push_back(row);
  }
  std::ranges::stable_sort(rows, {}, [&memory](std::size_t row) { return memory.time[row]; });
  std::map<std::pair<std::int8_t, std::int64_t>, std::size_t> at;
  for (const std::size_t row : rows) {
    const std::pair place{memory.device[row], memory.address[row]};
    if (const auto before = at.find(place); before != at.end()) alive[before->second] = false;
    if (memory.bytes[row] <= 0) {
      at.erase(place);
      continue;
    }
    at[place] = row;
    alive[row] = true;
  }
  return alive;
}

/// Of all memory that the stretch allocates, by track.
std::unordered_map<std::uint32_t, std::vector<Allocation>> allocations_of(
    const Trace& trace, Interval stretch, std::optional<Time> alive_at) {
  const std::vector<bool> counts =
      alive_at ? alive(trace.memory, *alive_at) : std::vector<bool>(trace.memory.size(), true);
  std::unordered_map<std::uint32_t, std::vector<Allocation>> found;
  for (std::size_t row = 0; row < trace.memory.size(); ++row) {
    const Time time = trace.memory.time[row];
    const std::int64_t bytes = trace.memory.bytes[row];
    if (counts[row] && bytes > 0 && time >= stretch.begin && time < stretch.end)
      found[trace.memory.track[row].value].push_back({time, bytes});
  }
  for (auto& [track, some] : found) std::ranges::stable_sort(some, {}, &Allocation::time);
  return found;
}

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
                                std::span<const std::size_t> tracks, Interval stretch,
                                std::optional<Time> alive_at) {
  FlameMaker maker(context.trace, stretch);
  auto allocations = allocations_of(context.trace, stretch, alive_at);
  for (const std::size_t place : tracks) {
    const LaneTrack& track = lanes.tracks()[place];
    // Frames and calls of a thread are two tracks: what both hold is of the calls.
    if (track.part == TrackPart::work) {
      maker.begin_track(std::exchange(allocations[track.track.value], {}));
    } else {
      maker.begin_track({});
    }
    std::size_t added = 0;
    for (const SliceId slice : inside(context.trace, track, stretch)) {
      if (added++ % kSlicesToStop == 0) stop_point();
      if (track.part == TrackPart::activities) maker.begin_track();
      maker.add(slice);
    }
    maker.end_track();
  }
  return maker.take();
}

}  // namespace fathom

// Adds up the slices inside an area, each lane apart, on all threads.
#include "analysis/timeline/area_sums.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/parallel.h"
#include "base/stop.h"

namespace fathom {
namespace {

/// A lane and the places of it that lie in the area.
struct Part {
  std::size_t track = 0;
  const Lane* lane = nullptr;
  std::size_t from = 0;
  std::size_t to = 0;
};

constexpr std::size_t kPartSlices = 65'536;

/// The parts of the area, none much larger than others.
std::vector<Part> parts_of(const LaneTracks& lanes, std::span<const std::size_t> tracks,
                           Interval stretch) {
  std::vector<Part> parts;
  for (const std::size_t track : tracks) {
    for (const Lane& lane : lanes.tracks()[track].lanes) {
      const auto [from, to] = lane.inside(stretch);
      for (std::size_t at = from; at < to; at += kPartSlices)
        parts.push_back({track, &lane, at, std::min(to, at + kPartSlices)});
    }
  }
  return parts;
}

using Key = std::uint64_t;
using Sums = std::unordered_map<Key, AreaSum>;

Key key_of(const Trace& trace, SliceId slice, SumBy by) {
  const Key category = trace.slices.category[slice.row()];
  const Key name = by == SumBy::name ? trace.slices.name[slice.row()].value : StringId::kNone;
  return (name << 8U) | category;
}

Interval cut(const Lane& lane, std::size_t place, Interval stretch) {
  return {std::max(lane.begin(place), stretch.begin), std::min(lane.end(place), stretch.end)};
}

Sums sum_up(const Trace& trace, const Part& part, Interval stretch, SumBy by) {
  stop_point();
  Sums sums;
  const std::span<const SliceId> slices = part.lane->slices();
  for (std::size_t place = part.from; place < part.to; ++place) {
    AreaSum& sum = sums[key_of(trace, slices[place], by)];
    ++sum.slices;
    sum.total += part.lane->duration(place);
  }
  // Those of a lane do not overlap: only the outermost can reach over the stretch.
  for (const std::size_t place : {part.from, part.to - 1}) {
    sums[key_of(trace, slices[place], by)].total -=
        part.lane->duration(place) - cut(*part.lane, place, stretch).length();
    if (part.to - part.from == 1) break;
  }
  return sums;
}

/// The time covered on each track by each key.
class Coverage {
 public:
  Coverage(const Trace& trace, const std::vector<Part>& parts, Interval stretch, SumBy by) {
    for (const Part& part : parts) {
      for (std::size_t place = part.from; place < part.to; ++place) {
        pieces_.push_back({key_of(trace, part.lane->slices()[place], by), part.track,
                           cut(*part.lane, place, stretch)});
      }
    }
    std::ranges::sort(pieces_, [](const Piece& a, const Piece& b) {
      return std::tuple(a.key, a.track, a.interval.begin) <
             std::tuple(b.key, b.track, b.interval.begin);
    });
  }

  void add_to(Sums& sums) const {
    const Piece* before = nullptr;
    Time until{};
    for (const Piece& piece : pieces_) {
      if (before == nullptr || before->key != piece.key || before->track != piece.track)
        until = Time::min();
      before = &piece;
      AreaSum& sum = sums[piece.key];
      const Time from = std::max(piece.interval.begin, until);
      sum.covered =
          sum.covered.value_or(Duration{}) + std::max(Duration{}, piece.interval.end - from);
      until = std::max(until, piece.interval.end);
    }
  }

 private:
  struct Piece {
    Key key;
    std::size_t track;
    Interval interval;
  };
  std::vector<Piece> pieces_;
};

}  // namespace

std::vector<AreaSum> area_sums(const Trace& trace, const LaneTracks& lanes,
                               std::span<const std::size_t> tracks, Interval stretch, SumBy by) {
  const std::vector<Part> parts = parts_of(lanes, tracks, stretch);
  std::vector<Sums> each(parts.size());
  for_each_in_parallel(parts.size(), 0,
                       [&](std::size_t i) { each[i] = sum_up(trace, parts[i], stretch, by); });
  Sums sums;
  std::uint64_t slices = 0;
  for (const Sums& some : each) {
    for (const auto& [key, sum] : some) {
      sums[key].slices += sum.slices;
      sums[key].total += sum.total;
      slices += sum.slices;
    }
  }
  if (slices <= kCoveredSlices) Coverage(trace, parts, stretch, by).add_to(sums);
  std::vector<AreaSum> rows;
  for (auto& [key, sum] : sums) {
    sum.category = static_cast<std::uint8_t>(key & 255U);
    if (by == SumBy::name) sum.name = StringId(static_cast<std::size_t>(key >> 8U));
    rows.push_back(sum);
  }
  std::ranges::sort(rows, [&trace](const AreaSum& a, const AreaSum& b) {
    if (a.total != b.total) return a.total > b.total;
    if (a.slices != b.slices) return a.slices > b.slices;
    return std::tuple(trace.text(a.name), a.category) < std::tuple(trace.text(b.name), b.category);
  });
  return rows;
}

}  // namespace fathom

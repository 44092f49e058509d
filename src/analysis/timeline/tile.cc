// Walks a lane through the bins of a tile.
#include "analysis/timeline/tile.h"

#include <algorithm>

namespace fathom {
namespace {

/// With so many slices in a bin, sums that are kept are quicker than adding up.
constexpr std::size_t kManyInBin = 160;
constexpr std::int64_t kFull = 255;

class TileMaker {
 public:
  TileMaker(const Trace& trace, const Lane& lane, const TileSpan& span)
      : trace_(trace), lane_(lane), span_(span), tile_(span.interval()) {}

  std::vector<TileBox> make() {
    const auto [from, to] = lane_.inside(tile_);
    for (std::size_t place = from; place < to;) place = take(place, to);
    flush();
    return std::move(boxes_);
  }

 private:
  /// The bin at hand, which gets the times of short slices.
  struct Bin {
    std::int64_t number = -1;
    std::int64_t covered = 0;
    std::size_t slices = 0;
    std::size_t longest = 0;  // its place in the lane
  };

  [[nodiscard]] std::int64_t bin_of(Time time) const {
    return to_ns(time - tile_.begin) >> span_.level;
  }
  [[nodiscard]] Time begin_of(std::int64_t bin) const {
    return tile_.begin + Duration(bin << span_.level);
  }
  [[nodiscard]] std::uint32_t place_of(Duration offset, bool up) const {
    const int shift = std::max(span_.level - kPlaceBits, 0);
    const std::int64_t more = up ? (std::int64_t{1} << shift) - 1 : 0;
    return static_cast<std::uint32_t>((to_ns(offset) + more) >> shift);
  }
  [[nodiscard]] bool is_long(std::size_t place) const {
    return to_ns(lane_.duration(place)) >= 2 * span_.bin_ns();
  }

  /// Takes the slice at `place`, or all that lie in its bin; gives the place behind.
  std::size_t take(std::size_t place, std::size_t to) {
    if (is_long(place)) {
      add_alone(place);
      return place + 1;
    }
    add_short(place);
    // Of those that follow in the same bin, all but the last end in it.
    const std::size_t next = place + 1;
    if (next + kManyInBin >= to) return next;
    const std::int64_t bin = std::max<std::int64_t>(bin_of(lane_.begin(next)), 0);
    if (bin_of(lane_.begin(next + kManyInBin)) != bin) return next;
    const std::size_t behind = std::min(lane_.first_from(begin_of(bin + 1)), to);
    add_many(bin, next, behind - 1);
    return behind - 1;
  }

  void add_alone(std::size_t place) {
    flush();
    const SliceId slice = lane_.slices()[place];
    boxes_.push_back(
        {.x0 = place_of(std::max(lane_.begin(place), tile_.begin) - tile_.begin, false),
         .x1 = place_of(std::min(lane_.end(place), tile_.end) - tile_.begin, true),
         .slice = slice,
         .name = trace_.slices.name[slice.row()],
         .longest = slice});
  }

  void add_short(std::size_t place) {
    const Time begin = std::max(lane_.begin(place), tile_.begin);
    const Time end = std::min(lane_.end(place), tile_.end);
    const std::int64_t first = bin_of(begin);
    const std::int64_t last = begin < end ? bin_of(end - Duration(1)) : first;
    for (std::int64_t bin = first; bin <= last; ++bin) {
      enter(bin);
      const Duration inside = std::min(end, begin_of(bin + 1)) - std::max(begin, begin_of(bin));
      add(place, 1, to_ns(inside));
    }
  }

  /// Places [from, to), which lie in the bin as a whole.
  void add_many(std::int64_t bin, std::size_t from, std::size_t to) {
    enter(bin);
    add(lane_.longest(from, to), to - from, to_ns(lane_.before(to) - lane_.before(from)));
  }

  void enter(std::int64_t bin) {
    if (bin_.number == bin) return;
    flush();
    bin_ = {.number = bin};
  }

  void add(std::size_t longest, std::size_t slices, std::int64_t covered) {
    if (bin_.slices == 0 || lane_.duration(longest) > lane_.duration(bin_.longest))
      bin_.longest = longest;
    bin_.slices += slices;
    bin_.covered += covered;
  }

  void flush() {
    if (bin_.slices == 0) return;
    const SliceId longest = lane_.slices()[bin_.longest];
    const std::int64_t share = (bin_.covered * kFull + span_.bin_ns() / 2) / span_.bin_ns();
    const Duration begin = begin_of(bin_.number) - tile_.begin;
    boxes_.push_back(
        {.x0 = place_of(begin, false),
         .x1 = place_of(begin + Duration(span_.bin_ns()), true),
         .slice = bin_.slices == 1 ? longest : SliceId(),
         .name = trace_.slices.name[longest.row()],
         .longest = longest,
         .coverage = static_cast<std::uint8_t>(std::clamp<std::int64_t>(share, 1, kFull))});
    bin_ = {};
  }

  const Trace& trace_;
  const Lane& lane_;
  const TileSpan span_;
  const Interval tile_;
  std::vector<TileBox> boxes_;
  Bin bin_;
};

}  // namespace

std::vector<TileBox> tile_boxes(const Trace& trace, const Lane& lane, const TileSpan& span) {
  return TileMaker(trace, lane, span).make();
}

}  // namespace fathom

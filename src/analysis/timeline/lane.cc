// Builds the sums of a lane, and searches it.
#include "analysis/timeline/lane.h"

#include <algorithm>

namespace fathom {

Lane::Lane(const Trace& trace, std::vector<SliceId> order)
    : starts_(trace.slices.start.span()),
      durations_(trace.slices.duration.span()),
      order_(std::move(order)) {
  Duration sum{};
  std::vector<std::uint32_t> level;
  for (std::size_t place = 0; place < order_.size(); ++place) {
    if (place % kFan == 0) {
      begins_.push_back(begin(place));
      before_.push_back(sum);
      level.push_back(static_cast<std::uint32_t>(place));
    }
    sum += duration(place);
    level.back() = static_cast<std::uint32_t>(longer(level.back(), place));
  }
  while (true) {
    longest_.push_back(std::move(level));
    const std::vector<std::uint32_t>& below = longest_.back();
    if (below.size() <= kFan) break;
    level = {};
    for (std::size_t group = 0; group < below.size(); ++group) {
      if (group % kFan == 0) level.push_back(below[group]);
      level.back() = static_cast<std::uint32_t>(longer(level.back(), below[group]));
    }
  }
}

std::size_t Lane::first_from(Time time) const {
  // The last group that begins before it is where it lies.
  const auto group = std::ranges::lower_bound(begins_, time) - begins_.begin();
  if (group == 0) return 0;
  std::size_t from = static_cast<std::size_t>(group - 1) * kFan;
  std::size_t to = std::min(from + kFan, size());
  while (from < to) {
    const std::size_t middle = from + (to - from) / 2;
    if (begin(middle) < time) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

std::pair<std::size_t, std::size_t> Lane::inside(Interval stretch) const {
  std::size_t from = first_from(stretch.begin);
  if (from > 0 && end(from - 1) > stretch.begin) --from;
  return {from, std::max(from, first_from(stretch.end))};
}

Duration Lane::before(std::size_t place) const {
  if (place == 0) return {};
  const std::size_t group = (place - 1) / kFan;
  Duration sum = before_[group];
  for (std::size_t at = group * kFan; at < place; ++at) sum += duration(at);
  return sum;
}

Duration Lane::covered(Interval stretch) const {
  const auto [from, to] = inside(stretch);
  if (from == to) return {};
  Duration sum = before(to) - before(from);
  if (begin(from) < stretch.begin) sum -= stretch.begin - begin(from);
  if (end(to - 1) > stretch.end) sum -= end(to - 1) - stretch.end;
  return sum;
}

std::size_t Lane::longest(std::size_t from, std::size_t to) const {
  std::size_t best = from;
  // Up the levels: at each, single entries up to the next whole group of the level above.
  const auto take = [&](std::size_t entry, std::size_t level) {
    best = longer(best, level == 0 ? entry : longest_[level - 1][entry]);
  };
  for (std::size_t level = 0; from < to; ++level) {
    const bool top = level == longest_.size();
    const std::size_t first_whole = top ? to : std::min(to, (from + kFan - 1) / kFan * kFan);
    const std::size_t last_whole = top ? to : std::max(first_whole, to / kFan * kFan);
    for (std::size_t entry = from; entry < first_whole; ++entry) take(entry, level);
    for (std::size_t entry = last_whole; entry < to; ++entry) take(entry, level);
    from = first_whole / kFan;
    to = last_whole / kFan;
    if (top) break;
  }
  return best;
}

std::size_t Lane::find(SliceId slice) const {
  const std::size_t place = first_from(starts_[slice.row()]);
  return place < size() && order_[place] == slice ? place : size();
}

}  // namespace fathom

// Sums samples by function and line.
#include "analysis/samples/hot_spots.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace fathom {
namespace {

using Key = std::tuple<StringId, StringId, std::int32_t>;  // function, file, line

Key key_of(const StackFrame& frame, SpotBy by) {
  return {frame.function, frame.file, by == SpotBy::line ? frame.line : -1};
}

struct Leaf {
  Duration on_cpu{};
  Duration blocked{};
  std::uint64_t samples = 0;
};

}  // namespace

HotSpots hot_spots(const Trace& trace, SpotBy by) {
  HotSpots hot;
  std::map<std::uint32_t, Leaf> leaves;
  for (const StackSample& sample : trace.stack_samples) {
    hot.on_cpu += sample.on_cpu;
    const bool ran = sample.on_cpu > Duration{};
    hot.samples += ran ? 1 : 0;
    if (sample.frame == kNoFrame) {
      hot.outside += sample.on_cpu;
      continue;
    }
    Leaf& leaf = leaves[sample.frame];
    leaf.on_cpu += sample.on_cpu;
    leaf.blocked += sample.blocked;
    leaf.samples += ran ? 1 : 0;
  }
  std::map<Key, std::size_t> rows;
  std::vector<std::map<std::int32_t, Duration>> lines;  // own time, by spot
  std::vector<std::uint32_t> counted_for;               // the leaf that a spot was last counted for
  for (const auto& [leaf, time] : leaves) {
    for (std::uint32_t row = leaf; row != kNoFrame; row = trace.stack_frames[row].parent) {
      const StackFrame& frame = trace.stack_frames[row];
      const auto [at, fresh] = rows.try_emplace(key_of(frame, by), hot.spots.size());
      if (fresh) {
        hot.spots.push_back({.function = frame.function, .file = frame.file, .line = frame.line});
        lines.emplace_back();
        counted_for.push_back(kNoFrame);
      }
      HotSpot& spot = hot.spots[at->second];
      if (row == leaf) {
        spot.self += time.on_cpu;
        spot.blocked += time.blocked;
        spot.samples += time.samples;
      }
      // Of the lines of a function the one that is worked in, else the one that calls.
      lines[at->second][frame.line] += row == leaf ? time.on_cpu : Duration{};
      if (counted_for[at->second] != leaf) spot.total += time.on_cpu;
      counted_for[at->second] = leaf;
    }
  }
  for (std::size_t i = 0; i < hot.spots.size(); ++i) {
    if (by == SpotBy::line) continue;
    const auto most =
        std::ranges::max_element(lines[i], {}, [](const auto& entry) { return entry.second; });
    hot.spots[i].line = most->first;
  }
  std::ranges::stable_sort(hot.spots, [](const HotSpot& a, const HotSpot& b) {
    return std::pair(a.self, a.total) > std::pair(b.self, b.total);
  });
  return hot;
}

std::vector<UserSpot> user_spots(const Trace& trace, SpotBy by,
                                 const std::function<Duration(const StackSample&)>& weight,
                                 const std::function<std::uint32_t(const StackSample&)>& frame_of) {
  std::map<Key, std::size_t> rows;
  std::vector<UserSpot> spots;
  for (const StackSample& sample : trace.stack_samples) {
    const Duration time = weight(sample);
    if (time <= Duration{}) continue;
    const std::uint32_t frame = frame_of(sample);
    const Key key = frame == kNoFrame ? Key{sample.thread, StringId{}, -2}
                                      : key_of(trace.stack_frames[frame], by);
    const auto [at, fresh] = rows.try_emplace(key, spots.size());
    if (fresh) spots.push_back({.frame = frame, .thread = sample.thread});
    spots[at->second].time += time;
    ++spots[at->second].samples;
  }
  std::ranges::stable_sort(spots, std::ranges::greater(), &UserSpot::time);
  return spots;
}

}  // namespace fathom

// Sums samples by function and line.
#include "analysis/samples/hot_spots.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {
namespace {

using Key = std::tuple<StringId, StringId, std::int32_t>;  // function, file, line

Key key_of(const StackFrame& frame, SpotBy by) {
  return {frame.function, frame.file, by == SpotBy::line ? frame.line : -1};
}

/// Of samples with a frame as the innermost.
struct Leaf {
  Duration on_cpu{};
  Duration blocked{};
  std::uint64_t samples = 0;
};

/// The tree of sampled stacks, each frame looked at a few times, however deep it is.
class SpotSums {
 public:
  SpotSums(const Trace& trace, SpotBy by, HotSpots& hot)
      : frames_(trace.stack_frames), by_(by), hot_(hot), spot_of_(frames_.size(), kNoSpot) {}

  void add(const std::map<std::uint32_t, Leaf>& leaves) {
    std::vector<Duration> below(frames_.size());
    for (const auto& [leaf, time] : leaves) {
      find_spots(leaf);
      HotSpot& spot = hot_.spots[spot_of_[leaf]];
      spot.self += time.on_cpu;
      spot.blocked += time.blocked;
      spot.samples += time.samples;
      lines_[spot_of_[leaf]][frames_[leaf].line] += time.on_cpu;
      below[leaf] += time.on_cpu;
    }
    // Parents are earlier rows.
    for (std::size_t row = frames_.size(); row-- > 0;)
      if (frames_[row].parent != kNoFrame) below[frames_[row].parent] += below[row];
    add_totals(below);
  }

  /// Of the lines of a function the one that is worked in, else the one that calls.
  void choose_lines() {
    for (std::size_t i = 0; i < hot_.spots.size(); ++i) {
      const auto most =
          std::ranges::max_element(lines_[i], {}, [](const auto& entry) { return entry.second; });
      hot_.spots[i].line = most->first;
    }
  }

 private:
  static constexpr std::size_t kNoSpot = SIZE_MAX;

  /// Of a frame and those below which it is. What has its spot, has it for all of them.
  void find_spots(std::uint32_t row) {
    for (; row != kNoFrame && spot_of_[row] == kNoSpot; row = frames_[row].parent) {
      const StackFrame& frame = frames_[row];
      const auto [at, fresh] = rows_.try_emplace(key_of(frame, by_), hot_.spots.size());
      if (fresh) {
        hot_.spots.push_back({.function = frame.function, .file = frame.file, .line = frame.line});
        lines_.emplace_back();
      }
      spot_of_[row] = at->second;
      lines_[at->second].try_emplace(frame.line);
    }
  }

  /// Of a spot that is on a stack several times the outermost has it.
  void add_totals(const std::vector<Duration>& below) {
    std::vector<std::uint32_t> first_child(frames_.size() + 1, kNoFrame);
    std::vector<std::uint32_t> sibling(frames_.size(), kNoFrame);
    for (std::uint32_t row = 0; row < frames_.size(); ++row) {
      if (spot_of_[row] == kNoSpot) continue;
      const std::uint32_t parent = frames_[row].parent;
      std::uint32_t& first = first_child[parent == kNoFrame ? frames_.size() : parent];
      sibling[row] = std::exchange(first, row);
    }
    std::vector<std::uint32_t> open(hot_.spots.size());  // how often a spot is on the stack
    std::vector<std::uint32_t> stack;
    std::uint32_t row = first_child.back();
    while (row != kNoFrame || !stack.empty()) {
      if (row == kNoFrame) {
        --open[spot_of_[stack.back()]];
        row = sibling[stack.back()];
        stack.pop_back();
        continue;
      }
      if (open[spot_of_[row]]++ == 0) hot_.spots[spot_of_[row]].total += below[row];
      stack.push_back(row);
      row = first_child[row];
    }
  }

  const std::vector<StackFrame>& frames_;
  SpotBy by_;
  HotSpots& hot_;
  std::vector<std::size_t> spot_of_;  // by frame
  std::map<Key, std::size_t> rows_;
  std::vector<std::map<std::int32_t, Duration>> lines_;  // own time, by spot
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
  SpotSums sums(trace, by, hot);
  sums.add(leaves);
  if (by == SpotBy::function) sums.choose_lines();
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

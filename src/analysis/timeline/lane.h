// Lane: slices of one track that do not overlap, by time, with sums over any stretch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Immutable. Borrows the trace. Beside the 4 bytes of each slice, what it keeps is less than one.
class Lane {
 public:
  /// `order`: by start, each beginning after the one before has ended (one without a duration
  /// counts as a nanosecond there). O(n).
  Lane(const Trace& trace, std::vector<SliceId> order);

  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] std::span<const SliceId> slices() const { return order_; }
  [[nodiscard]] Time begin(std::size_t place) const { return starts_[order_[place].row()]; }
  [[nodiscard]] Duration duration(std::size_t place) const {
    return durations_[order_[place].row()];
  }
  [[nodiscard]] Time end(std::size_t place) const { return begin(place) + duration(place); }

  /// The place of the first slice that starts at `time` or later. O(log n).
  [[nodiscard]] std::size_t first_from(Time time) const;
  /// Places of the slices of which something lies in the stretch, those without a duration included
  /// where they start in it. O(log n).
  [[nodiscard]] std::pair<std::size_t, std::size_t> inside(Interval stretch) const;
  /// Sum of the durations of places before this one. O(1): 63 at most are added up.
  [[nodiscard]] Duration before(std::size_t place) const;
  /// Sum of the durations, cut to the stretch. O(log n).
  [[nodiscard]] Duration covered(Interval stretch) const;
  /// The place of the longest of [from, to), the first of equal ones; from < to. O(log n).
  [[nodiscard]] std::size_t longest(std::size_t from, std::size_t to) const;
  /// The place of a slice of this lane, or size(). O(log n).
  [[nodiscard]] std::size_t find(SliceId slice) const;

 private:
  static constexpr std::size_t kFan = 64;

  [[nodiscard]] std::size_t longer(std::size_t a, std::size_t b) const {
    return duration(b) > duration(a) || (duration(b) == duration(a) && b < a) ? b : a;
  }

  std::span<const Time> starts_;
  std::span<const Duration> durations_;
  std::vector<SliceId> order_;
  std::vector<Time> begins_;      // of each 64th place
  std::vector<Duration> before_;  // of each 64th place
  // Of 64 places, of 64 such groups, …: the place of the longest. The last has at most 64.
  std::vector<std::vector<std::uint32_t>> longest_;
};

}  // namespace fathom

// ClockMap: from the processor's counter to CLOCK_MONOTONIC, by readings of both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fathom::inside {

/// True if the processor's counter runs evenly on all cores and the system itself relies on it.
bool counter_is_steady();

/// Both clocks, read as close together as a few attempts allow.
struct ClockPair {
  std::uint64_t ticks = 0;
  std::int64_t monotonic = 0;
};
ClockPair read_clock_pair(bool slow_clock);

/// Times between two readings lie on the line through them, so that neither drift nor a slewed
/// clock adds up. Nothing is allocated. Not thread-safe.
class ClockMap {
 public:
  /// The counter already counts ns of CLOCK_MONOTONIC.
  void set_identity() { identity_ = true; }
  /// A further reading, later than those before. Of close ones only the newest is kept.
  void add(ClockPair pair);
  /// CLOCK_MONOTONIC at that count, in ns. Needs two readings. Fast where counts come in order.
  std::int64_t monotonic(std::uint64_t ticks);

 private:
  static constexpr std::size_t kMostPairs = 4096;
  void choose(std::uint64_t ticks);

  bool identity_ = false;
  std::array<ClockPair, kMostPairs> pairs_{};
  std::size_t count_ = 0;
  // The stretch at hand: counts from from_ to to_.
  std::uint64_t from_ = 1;
  std::uint64_t to_ = 0;
  ClockPair base_;
  double ns_per_tick_ = 0;
};

}  // namespace fathom::inside

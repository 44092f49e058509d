// Readings of two clocks at once, and the distance between the two.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wire/reader.h"

namespace fathom::own {

/// Unix time by CLOCK_MONOTONIC.
struct UnixTime {
  std::int64_t offset_ns = 0;  ///< To be added: the median of the readings.
  /// How far it may be off: each reading's own error and its distance from the median, but for
  /// readings after the clock was set.
  std::int64_t error_ns = 0;
  std::int64_t set_by_ns = 0;  ///< 0 where nobody set the clock.
};

class ClockReadings {
 public:
  void add(const wire::ClockRecord& reading) { readings_.push_back(reading); }
  /// Unset without any reading.
  [[nodiscard]] std::optional<UnixTime> unix_time() const;

 private:
  std::vector<wire::ClockRecord> readings_;
};

}  // namespace fathom::own

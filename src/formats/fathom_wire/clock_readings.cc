// Fits the distance of two clocks to readings of both.
#include "formats/fathom_wire/clock_readings.h"

#include <algorithm>
#include <cstdlib>

namespace fathom::own {
namespace {

/// Where the clock was set while it was recorded, its readings differ by more than this.
constexpr std::int64_t kClockStep = 1'000'000;

}  // namespace

std::optional<UnixTime> ClockReadings::unix_time() const {
  if (readings_.empty()) return {};
  std::vector<std::int64_t> offsets;
  offsets.reserve(readings_.size());
  for (const wire::ClockRecord& reading : readings_)
    offsets.push_back(reading.unix - reading.monotonic);
  const auto [low, high] = std::ranges::minmax(offsets);
  UnixTime unix;
  if (high - low > kClockStep) unix.set_by_ns = high - low;
  const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
  std::ranges::nth_element(offsets, middle);
  unix.offset_ns = *middle;
  for (const wire::ClockRecord& reading : readings_) {
    const std::int64_t apart = std::abs(reading.unix - reading.monotonic - unix.offset_ns);
    if (apart <= kClockStep)
      unix.error_ns = std::max(unix.error_ns, apart + std::int64_t{reading.error});
  }
  return unix;
}

}  // namespace fathom::own

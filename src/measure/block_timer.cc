// Times blocks by CLOCK_MONOTONIC.
#include "measure/block_timer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace fathom::measure {
namespace {

using Steady = std::chrono::steady_clock;

constexpr Duration kLeastBlock = std::chrono::microseconds(20);
constexpr std::int64_t kCostsInBlock = 1000;
constexpr std::size_t kMostCalls = std::size_t{1} << 30U;

/// The median of what lies between two readings of nothing, each the mean of many.
Duration cost_of_reading() {
  constexpr std::size_t kReadings = 64;
  std::array<Duration, 15> costs{};
  for (Duration& cost : costs) {
    const Steady::time_point begin = Steady::now();
    for (std::size_t i = 0; i < kReadings; ++i) static_cast<void>(Steady::now());
    cost = Duration(Steady::now() - begin) / static_cast<std::int64_t>(kReadings + 1);
  }
  std::ranges::sort(costs);
  return std::max(Duration(1), costs[costs.size() / 2]);
}

}  // namespace

BlockTimer wall_timer(std::function<bool()> settle) {
  BlockTimer timer;
  timer.mode = "wall";
  timer.clock =
      settle ? "CLOCK_MONOTONIC, until the device has nothing left to do" : "CLOCK_MONOTONIC";
  timer.cost = cost_of_reading();
  timer.least = std::max(kLeastBlock, kCostsInBlock * timer.cost);
  timer.most_calls = kMostCalls;
  timer.time = [settle = std::move(settle)](const Block& block,
                                            std::size_t calls) -> std::optional<double> {
    if (settle && !settle()) return std::nullopt;
    const Steady::time_point begin = Steady::now();
    if (!block(calls)) return std::nullopt;
    if (settle && !settle()) return std::nullopt;
    return static_cast<double>(to_ns(Duration(Steady::now() - begin)));
  };
  return timer;
}

}  // namespace fathom::measure

// Converts the processor's counter to CLOCK_MONOTONIC, piecewise linearly.
#include "capture/inside/clock_map.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

#include <fathom/record.h>

#include "wire/writer.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fathom::inside {
namespace {

/// Readings closer than this do not make a new stretch.
constexpr std::int64_t kStretch = 20'000'000;

#if defined(__x86_64__)
bool invariant() {
  constexpr unsigned kPowerLeaf = 0x80000007;
  constexpr unsigned kInvariantBit = 1U << 8;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantBit) != 0;
}

bool system_uses_it() {
  FILE* const file =
      std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
  if (file == nullptr) return false;
  char name[32] = {};
  const bool read = std::fgets(name, sizeof name, file) != nullptr;
  std::fclose(file);
  return read && (std::strncmp(name, "tsc", 3) == 0 || std::strncmp(name, "kvm-clock", 9) == 0 ||
                  std::strncmp(name, "hyperv", 6) == 0);
}
#endif

}  // namespace

bool counter_is_steady() {
#if defined(__x86_64__)
  return invariant() && system_uses_it();
#else
  return true;  // arm64's is by definition
#endif
}

ClockPair read_clock_pair(bool slow_clock) {
  if (slow_clock) {
    const std::int64_t now = wire::monotonic_ns();
    return {static_cast<std::uint64_t>(now), now};
  }
  constexpr int kReadings = 5;
  ClockPair best;
  std::uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < kReadings; ++i) {
    const std::uint64_t before = detail::counter_ticks();
    const std::int64_t monotonic = wire::monotonic_ns();
    const std::uint64_t after = detail::counter_ticks();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + (after - before) / 2, monotonic};
  }
  return best;
}

void ClockMap::add(ClockPair pair) {
  to_ = 0;
  from_ = 1;  // the stretch at hand may change
  if (count_ > 0 && pair.ticks <= pairs_[count_ - 1].ticks) return;
  if (count_ >= 2 && pair.monotonic - pairs_[count_ - 2].monotonic < kStretch) {
    pairs_[count_ - 1] = pair;
    return;
  }
  if (count_ == kMostPairs) {
    std::ranges::copy(std::span(pairs_).subspan(kMostPairs / 2), pairs_.begin());
    count_ -= kMostPairs / 2;
  }
  pairs_[count_++] = pair;
}

void ClockMap::choose(std::uint64_t ticks) {
  const auto* const first = pairs_.data() + 1;
  const auto* const last = pairs_.data() + count_ - 1;
  const auto* const after = std::upper_bound(
      first, last, ticks,
      [](std::uint64_t value, const ClockPair& pair) { return value < pair.ticks; });
  const ClockPair& next = *after;
  base_ = *(after - 1);
  ns_per_tick_ = static_cast<double>(next.monotonic - base_.monotonic) /
                 static_cast<double>(next.ticks - base_.ticks);
  from_ = after == first ? 0 : base_.ticks;
  to_ = after == last ? UINT64_MAX : next.ticks;
}

std::int64_t ClockMap::monotonic(std::uint64_t ticks) {
  if (identity_) return static_cast<std::int64_t>(ticks);
  if (ticks < from_ || ticks >= to_) choose(ticks);
  const double past = static_cast<double>(static_cast<std::int64_t>(ticks - base_.ticks));
  return base_.monotonic + static_cast<std::int64_t>(past * ns_per_tick_);
}

}  // namespace fathom::inside

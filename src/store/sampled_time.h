// Which time of sampled threads counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "store/trace.h"

namespace fathom {

/// Time in the run queue is in none of them.
enum class SampledTime : std::uint8_t { on_cpu, blocked, both };

/// By which users choose it, in this order.
inline constexpr std::string_view kSampledTimes[] = {"on-cpu", "blocked", "both"};
inline std::optional<SampledTime> sampled_time_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kSampledTimes); ++i) {
    if (kSampledTimes[i] == name) return static_cast<SampledTime>(i);
  }
  return std::nullopt;
}

/// Where both count, it is the innermost function of what was blocked.
inline constexpr std::string_view kBlockedFrame = "(blocked)";

/// Hands `take(time, is_blocked)` what of the sample counts and is more than nothing; once or
/// twice. `is_blocked` only where that is to be distinguished from time on a processor.
template <typename Take>
void each_part(const StackSample& sample, SampledTime of, const Take& take) {
  if (of != SampledTime::blocked && sample.on_cpu > Duration{}) take(sample.on_cpu, false);
  if (of != SampledTime::on_cpu && sample.blocked > Duration{})
    take(sample.blocked, of == SampledTime::both);
}

}  // namespace fathom

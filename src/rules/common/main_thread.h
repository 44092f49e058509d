// Without a device: what the main thread does during a stretch of time.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>

#include "rules/rule.h"

namespace fathom {

/// Without a device: the main thread's pieces that overlap the stretch. O(log n).
std::span<const HostPiece> main_thread_in(const RuleContext& rules, const Interval& stretch);

/// Calls visit(piece, time) for the pieces of these buckets (any, where none is named) that overlap
/// the stretch, with the time that lies in it and in counted steps, up to `budget`; returns the
/// sum.
template <typename Visit>
Duration for_each_part(const RuleContext& rules, const Interval& stretch,
                       std::initializer_list<HostBucket> buckets, Duration budget,
                       const Visit& visit) {
  Duration sum{};
  for (const HostPiece& piece : main_thread_in(rules, stretch)) {
    if (buckets.size() > 0 && std::ranges::find(buckets, piece.bucket) == buckets.end()) continue;
    const Duration time = std::min(rules.counted({std::max(stretch.begin, piece.interval.begin),
                                                  std::min(stretch.end, piece.interval.end)}),
                                   budget - sum);
    if (time <= Duration{}) continue;
    sum += time;
    visit(piece, time);
  }
  return sum;
}

}  // namespace fathom

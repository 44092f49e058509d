// Idle time of the device before work that was launched only after its queue had run dry.
#pragma once

#include <cstddef>
#include <vector>

#include "rules/common/claims.h"
#include "rules/rule.h"

namespace fathom {

struct LateLaunches {
  std::vector<Claim> claims;  ///< Of each gap dispatch, Python, and the launch until work begins.
  std::vector<SliceId> ops;   ///< The operators that cost the host most of each gap.
  std::size_t gaps = 0;
  Interval longest{};
};

/// Gaps of the diagnosed device in the counted steps. Those that a synchronising call opened, and
/// those before the first and after the last activity, are none; nor is the time in which an
/// operator of the launching thread runs for more than 200 µs without any call: it computes on the
/// host. O(slices + pieces).
LateLaunches late_launches(const RuleContext& rules);

}  // namespace fathom

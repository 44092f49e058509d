// What takes the time of fetching a batch: the program's function, and what dominates inside it.
#pragma once

#include <optional>
#include <span>

#include "rules/rule.h"

namespace fathom {

/// Says which function of the program takes most of these fetches, which must not overlap on one
/// thread, and what takes most inside of it: exact sums over Python frames that were recorded
/// inside the fetches, else over annotations there. Unset where neither was recorded, or nothing of
/// the program is among them, as where workers do the fetching. O(frames * log frames).
std::optional<Evidence> dominating_part(const RuleContext& rules, std::span<const SliceId> fetches);

}  // namespace fathom

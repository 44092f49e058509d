// Chooses the verdict from the recoverable time of each family.
#pragma once

#include <array>
#include <vector>

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

inline constexpr std::size_t kFamilies = static_cast<std::size_t>(Family::physical) + 1;
/// Time over all counted steps, by Family.
using FamilyTimes = std::array<Duration, kFamilies>;

/// What no finding has claimed, by the family that its bucket belongs to: idle by its cause (idle
/// that a synchronising call opened is that call's), exposed communication and copies. Compute time
/// is in `compute`, `memory_bandwidth` or `latency` by the roofline of its kernels, and counts
/// there as it is spent, not as it could be saved.
FamilyTimes spent_by_family(const RuleContext& rules);

/// The verdict by docs/diagnosis.md. `spent` as above, `claimed` by the findings, both over the
/// counted steps together.
Verdict judge(const RuleContext& rules, const FamilyTimes& spent,
              const std::vector<RankedFinding>& findings);

}  // namespace fathom

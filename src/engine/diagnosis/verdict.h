// Chooses the verdict from the recoverable time of each family.
#pragma once

#include <array>
#include <vector>

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

inline constexpr std::size_t kFamilies = static_cast<std::size_t>(Family::physical) + 1;
/// Time over all counted steps, by Family.
using FamilyTimes = std::array<Duration, kFamilies>;

/// The accounting of the counted steps, by family.
struct SpentTime {
  /// Sums of buckets: idle by its cause, exposed communication and copies. Compute time is divided
  /// among `compute`, `memory_bandwidth` and `latency` by the roofline of its kernels, and counts
  /// there as it is spent, not as it could be saved.
  FamilyTimes families{};
  /// The part of `host` that follows a synchronising call, until the host has launched again:
  /// without the wait it would have been ahead.
  Duration catching_up{};
  /// The part of `host` in which the thread was ready and had no processor, by its processor time:
  /// no change to what Python does would save it.
  Duration without_processor{};
  Duration unexplained{};  ///< Idle without a cause in the trace: device wait and host unknown.
};
SpentTime spent_by_family(const RuleContext& rules);

/// The verdict by docs/diagnosis.md. Its numbers are those of `spent`, whatever findings claim.
Verdict judge(const RuleContext& rules, const SpentTime& spent,
              const std::vector<RankedFinding>& findings);

}  // namespace fathom

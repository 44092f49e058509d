// A finding about threads that wait for a lock of whatever kind.
#pragma once

#include <optional>
#include <string_view>

#include "rules/common/sampled.h"

namespace fathom {

/// From so many threads on that wait on the average, waiting is a finding.
inline constexpr double kLeastWaiting = 0.3;

/// Texts are borrowed for the call.
struct Contention {
  WaitClass wait{};        ///< Which waits are named.
  double waiting = 0;      ///< Threads that wait, on the average, without their time in the queue.
  Duration waited{};       ///< By all threads together.
  std::string_view lock;   ///< What they wait for, in the title: "a lock".
  std::string_view locks;  ///< In the evidence: "locks".
  bool named = false;      ///< Is it a finding only where a place in the program is known?
};

/// Unset where too few wait. Counter-evidence, fix and how to verify are left to the rule.
std::optional<Finding> contention_finding(const SampledProgram& program,
                                          const Contention& contention);

}  // namespace fathom

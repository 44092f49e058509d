// Dividing the step among findings, so that no nanosecond counts twice.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace fathom {

/// What is left of each gap, activity or host slice after the findings before took their part.
class Ledger {
 public:
  explicit Ledger(const RuleContext& rules);

  /// Cuts the claims down to what is left of their owners, and takes that off. Returns Σ of what is
  /// granted. O(claims).
  Duration grant(std::vector<Claim>& claims);

  /// Σ of the time that the claims are a part of, whatever others took of it. O(claims).
  [[nodiscard]] Duration observed(const std::vector<Claim>& claims) const;

 private:
  [[nodiscard]] bool counts(SliceId slice) const;

  // Counted time of each gap of the diagnosed device; without one, of the main thread's pieces that
  // lie in no slice.
  std::vector<Duration> gaps_;
  ActivityColumn<Duration> device_;  // Credited time of activities; with a device.
  Column<Duration> host_;            // Own time of host slices; without a device.
  const RuleContext& rules_;
};

}  // namespace fathom

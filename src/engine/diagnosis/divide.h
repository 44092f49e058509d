// Dividing the step among findings, so that no nanosecond counts twice.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace fathom {

/// What is left of each gap, activity or host slice after the findings before took their part.
class Ledger {
 public:
  explicit Ledger(const RuleContext& rules);

  struct Granted {
    Duration time{};    ///< Σ of what is granted.
    Duration shared{};  ///< What would be granted on top, had no finding before taken any.
  };
  /// Cuts the claims down to what is left of their owners, and takes that off. O(claims).
  Granted grant(std::vector<Claim>& claims);

  /// Σ of the time that the claims are a part of, whatever others took of it. O(claims).
  [[nodiscard]] Duration observed(const std::vector<Claim>& claims) const;

 private:
  /// What is left of an owner, and what findings before took of it.
  struct Part {
    Duration* left = nullptr;
    Duration* taken = nullptr;
  };
  [[nodiscard]] Part part_of(const Claim& claim);
  [[nodiscard]] bool counts(SliceId slice) const;

  // Counted time of each gap of the diagnosed device; without one, of the main thread's pieces that
  // lie in no slice.
  std::vector<Duration> gaps_;
  ActivityColumn<Duration> device_;  // Credited time of activities; with a device.
  Column<Duration> host_;            // Own time of host slices; without a device.
  // What was taken of each of them.
  std::vector<Duration> taken_gaps_;
  ActivityColumn<Duration> taken_device_;
  Column<Duration> taken_host_;
  const RuleContext& rules_;
};

}  // namespace fathom

// Exact sums of changes, and their printing in whole nanoseconds that add up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fathom {

/// Wide enough for sums of nanoseconds times the steps of both sides.
__extension__ using Wide = __int128;

/// Numbers as fractions of one denominator: means per step of two sides. Changes are exact, so that
/// their sum is the change of the whole, not nearly so.
class StepFractions {
 public:
  /// Both at least 1.
  StepFractions(std::int64_t base_steps, std::int64_t new_steps)
      : base_steps_(base_steps), new_steps_(new_steps) {}

  [[nodiscard]] Wide denominator() const { return Wide{2} * base_steps_ * new_steps_; }
  /// The change of a mean per step, from both sums.
  [[nodiscard]] Wide change_of_mean(std::int64_t base_sum, std::int64_t new_sum) const {
    return 2 * (Wide{new_sum} * base_steps_ - Wide{base_sum} * new_steps_);
  }
  /// The change of a median, from twice both medians, which are whole numbers.
  [[nodiscard]] Wide change_of_median(std::int64_t base_twice, std::int64_t new_twice) const {
    return (Wide{new_twice} - base_twice) * base_steps_ * new_steps_;
  }
  /// The nearest whole number, halves away from zero.
  [[nodiscard]] std::int64_t rounded(Wide numerator) const;

 private:
  std::int64_t base_steps_;
  std::int64_t new_steps_;
};

/// Whole numbers whose sum is `total`, each less than 1 away from its fraction: the largest
/// remainders are rounded up (Hamilton's method). `total` must be less than 1 away from the sum of
/// the fractions.
std::vector<std::int64_t> by_largest_remainder(std::span<const Wide> numerators, Wide denominator,
                                               std::int64_t total);

}  // namespace fathom

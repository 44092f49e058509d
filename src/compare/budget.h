// What a change may cost: "step_time+3%", "launches+0", "peak_memory<20GiB".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "compare/shares.h"
#include "engine/query/quantity.h"

namespace fathom {

/// What a budget may be of. One explicit table names them all: budget_metrics().
struct BudgetMetric {
  std::string_view id;       ///< As it is written: "peak_memory".
  std::string_view counter;  ///< The id of Profile::counters; empty for the step time.
  std::string_view title;    ///< "peak allocated bytes".
  /// `duration` in ns, `bytes`, or `plain` for counts.
  QuantityKind kind = QuantityKind::plain;
  std::string_view lacks;  ///< What a recording without it does not have, and what to record.
};

std::span<const BudgetMetric> budget_metrics();

enum class BudgetKind : std::uint8_t {
  percent_of_base,  ///< "+3%": at most so many percent above base; "-5%": at least so many below.
  added_to_base,    ///< "+2", "+1ms", "-2".
  below,            ///< "<20GiB".
  at_most,
  above,
  at_least,
  equal,
};

struct Budget {
  std::string text;  ///< As it was written.
  const BudgetMetric* metric = nullptr;
  BudgetKind kind = BudgetKind::at_most;
  /// Millionths of a percent, a nanosecond, a byte or one: whole, so that counts compare exactly.
  Wide millionths = 0;

  [[nodiscard]] bool relative() const {
    return kind == BudgetKind::percent_of_base || kind == BudgetKind::added_to_base;
  }
  [[nodiscard]] bool of_time() const { return metric->counter.empty(); }
  [[nodiscard]] double amount() const { return static_cast<double>(millionths) / 1e6; }
  /// What a value may be at most (at least for `above` and `at_least`), beside this value of base.
  [[nodiscard]] double limit(double base) const;
};

/// METRIC+N%, METRIC+N, METRIC<N (also -, <=, >, >=, =) with the metric's units. Error:
/// invalid_argument; also for a time that is to equal a number, and for "-100%" and below.
Result<Budget> parse_budget(std::string_view text);

}  // namespace fathom

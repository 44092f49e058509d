// Compares fractions by their cross products.
#include "compare/count_check.h"

#include "compare/shares.h"

namespace fathom {
namespace {

constexpr Wide kMillion = 1'000'000;

/// What `now` has more, over the steps of both.
Wide added(const StepSum& base, const StepSum& now) {
  return Wide{now.sum} * base.steps - Wide{base.sum} * now.steps;
}

/// An amount by steps. What does not fit is more than any sum can be.
Wide times(Wide amount, Wide steps) {
  constexpr Wide kMost = (Wide{1} << 126) - 1;
  Wide product = 0;
  if (!__builtin_mul_overflow(amount, steps, &product)) return product;
  return amount < 0 ? -kMost : kMost;
}

}  // namespace

bool keeps(const Budget& budget, const StepSum& base, const StepSum& now) {
  const Wide amount = budget.millionths;
  if (budget.kind == BudgetKind::percent_of_base)
    return Wide{now.sum} * base.steps * 100 * kMillion <=
           Wide{base.sum} * now.steps * (100 * kMillion + amount);
  if (budget.kind == BudgetKind::added_to_base)
    return added(base, now) * kMillion <= times(amount, Wide{now.steps} * base.steps);
  const Wide value = Wide{now.sum} * kMillion;
  const Wide limit = amount * now.steps;
  switch (budget.kind) {
    case BudgetKind::below:
      return value < limit;
    case BudgetKind::above:
      return value > limit;
    case BudgetKind::at_least:
      return value >= limit;
    case BudgetKind::equal:
      return value == limit;
    default:
      return value <= limit;
  }
}

}  // namespace fathom

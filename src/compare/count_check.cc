// Compares fractions by their cross products.
#include "compare/count_check.h"

#include "compare/shares.h"

namespace fathom {
namespace {

constexpr Wide kMillion = 1'000'000;

}  // namespace

bool keeps(const Budget& budget, const StepSum& base, const StepSum& now) {
  const Wide amount = budget.millionths;
  if (budget.kind == BudgetKind::percent_of_base)
    return Wide{now.sum} * base.steps * 100 * kMillion <=
           Wide{base.sum} * now.steps * (100 * kMillion + amount);
  if (budget.kind == BudgetKind::added_to_base)
    return Wide{now.sum} * base.steps * kMillion <=
           Wide{base.sum} * now.steps * kMillion + amount * now.steps * base.steps;
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

// Parses budgets.
#include "compare/budget.h"

#include <cmath>
#include <cstdlib>
#include <vector>

#include "engine/query/nearest.h"

namespace fathom {
namespace {

constexpr std::string_view kNoDevice = "no work of a device in it";
constexpr std::string_view kNoOperators = "no operator in it";

constexpr BudgetMetric kMetrics[] = {
    {"step_time", "", "step time", QuantityKind::duration, "no steps in it"},
    {"launches", "kernel_launches", "kernel launches", QuantityKind::plain, kNoDevice},
    {"kernels", "kernels", "kernels", QuantityKind::plain, kNoDevice},
    {"synchronizations", "synchronizations", "synchronizations", QuantityKind::plain, kNoDevice},
    {"copies", "copies", "copies", QuantityKind::plain, kNoDevice},
    {"copied_bytes", "copied_bytes", "copied bytes", QuantityKind::bytes, kNoDevice},
    {"collectives", "collectives", "collectives", QuantityKind::plain, kNoOperators},
    {"collective_bytes", "collective_bytes", "bytes given to collectives", QuantityKind::bytes,
     "no size of a collective in it"},
    {"operator_calls", "operator_calls", "operator calls", QuantityKind::plain, kNoOperators},
    {"compilations", "compilations", "compilations", QuantityKind::plain, kNoOperators},
    {"graph_breaks", "graph_breaks", "graph breaks", QuantityKind::plain,
     "no compiled region in it"},
    {"flops", "flops", "floating-point operations", QuantityKind::plain,
     "no shape in it; record with record_shapes=True"},
    {"peak_memory", "peak_allocated_bytes", "peak allocated bytes", QuantityKind::bytes,
     "no memory in it; record with profile_memory=True"},
};

struct Relation {
  std::string_view sign;
  BudgetKind kind;
};
constexpr Relation kRelations[] = {
    {"<=", BudgetKind::at_most},
    {">=", BudgetKind::at_least},
    {"<", BudgetKind::below},
    {">", BudgetKind::above},
    {"=", BudgetKind::equal},
    // A percentage is found by its unit.
    {"+", BudgetKind::added_to_base},
    {"-", BudgetKind::added_to_base},
};

/// The largest amount, which a sum over steps can reach, and the largest percentage.
constexpr double kLargest = 9e18;
constexpr double kLargestPercent = 1e6;

Error refuse(std::string_view text, const std::string& why) {
  return {ErrorCode::invalid_argument, "'" + std::string(text) + "': " + why};
}

std::string all_metrics() {
  std::string names;
  for (const BudgetMetric& metric : kMetrics)
    names += (names.empty() ? "" : ", ") + std::string(metric.id);
  return names;
}

std::string unknown_metric(std::string_view name) {
  std::vector<std::string_view> ids;
  for (const BudgetMetric& metric : kMetrics) ids.push_back(metric.id);
  const std::string_view meant = nearest(name, ids);
  return "there is no metric '" + std::string(name) + "'" +
         (meant.empty() ? "." : "; did you mean '" + std::string(meant) + "'?") +
         " Metrics: " + all_metrics();
}

const BudgetMetric* find_metric(std::string_view id) {
  for (const BudgetMetric& metric : kMetrics)
    if (metric.id == id) return &metric;
  return nullptr;
}

Wide millionths_of(double number) {
  constexpr double kExact = 9e12;  // beyond it parts of one are not looked at
  if (number <= kExact) return std::llround(number * 1e6);
  return Wide{std::llround(number)} * 1'000'000;
}

/// The number behind the sign.
Result<void> take_amount(std::string_view amount, std::string_view sign, Budget& budget) {
  const bool percent = budget.kind == BudgetKind::added_to_base && amount.ends_with('%');
  if (percent) budget.kind = BudgetKind::percent_of_base;
  if (amount.empty() || amount.front() == '-' || amount.front() == '+')
    return Error{ErrorCode::invalid_argument,
                 "a number is missing behind '" + std::string(sign) + "'"};
  const Result<double> number =
      parse_quantity(amount, percent ? QuantityKind::percent : budget.metric->kind);
  if (!number) return Error(number.error());
  if (!(*number >= 0) || *number > (percent ? kLargestPercent : kLargest))
    return Error{ErrorCode::invalid_argument, "'" + std::string(amount) + "' is too large"};
  const bool bare = amount.back() >= '0' && amount.back() <= '9';
  if (budget.of_time() && bare && *number != 0)
    return Error{ErrorCode::invalid_argument,
                 "'" + std::string(amount) + "' has no unit; write %, ns, us, ms or s"};
  budget.millionths = millionths_of(*number) * (sign == "-" ? -1 : 1);
  return {};
}

}  // namespace

std::span<const BudgetMetric> budget_metrics() { return kMetrics; }

double Budget::limit(double base) const {
  if (kind == BudgetKind::percent_of_base) return base * (1 + amount() / 100);
  return kind == BudgetKind::added_to_base ? base + amount() : amount();
}

Result<Budget> parse_budget(std::string_view text) {
  const std::size_t at = text.find_first_of("<>=+-");
  if (at == std::string_view::npos)
    return refuse(text, "write METRIC+N%, METRIC+N or METRIC<N, for example step_time+3%");
  Budget budget;
  budget.text = text;
  std::string_view name = text.substr(0, at);
  while (name.ends_with(' ')) name.remove_suffix(1);
  budget.metric = find_metric(name);
  if (budget.metric == nullptr) return refuse(text, unknown_metric(name));
  std::string_view amount = text.substr(at);
  std::string_view sign;
  for (const Relation& relation : kRelations) {
    if (!amount.starts_with(relation.sign)) continue;
    sign = relation.sign;
    budget.kind = relation.kind;
    break;
  }
  amount.remove_prefix(sign.size());
  while (amount.starts_with(' ')) amount.remove_prefix(1);
  const Result<void> taken = take_amount(amount, sign, budget);
  if (!taken) return refuse(text, taken.error().message);
  if (budget.kind == BudgetKind::equal && budget.of_time())
    return refuse(text, "a time never equals a number; write < or <=");
  if (budget.kind == BudgetKind::percent_of_base && budget.amount() <= -100)
    return refuse(text, "nothing is left below -100%");
  return budget;
}

}  // namespace fathom

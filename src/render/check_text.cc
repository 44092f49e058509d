// Lays out checked budgets for a screen and for markdown.
#include "render/check_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/quantity_text.h"
#include "render/charset.h"
#include "render/compare_rows.h"
#include "render/finding_text.h"
#include "render/markdown.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::size_t kInputs = 3;
/// The longest text of all that differs: it is named in full, and a recording may say anything.
constexpr std::size_t kLongestDiffers = 20'000;

/// "1,613.7".
std::string thousandths_text(double value) {
  const std::int64_t all = std::llround(value * 1000);
  std::string digits = std::to_string(1000 + std::abs(all % 1000)).substr(1);
  while (digits.ends_with('0')) digits.pop_back();
  return count_text(all / 1000) + (digits.empty() ? "" : "." + digits);
}

std::string value_text(const Budget& budget, double value) {
  if (budget.metric->kind == QuantityKind::duration)
    return duration_text(duration_ns(std::llround(value)));
  const bool whole = value == std::floor(value) && std::abs(value) < 9e15;
  if (budget.metric->kind == QuantityKind::bytes) return bytes_text(std::llround(value));
  if (whole) return count_text(static_cast<std::int64_t>(value));
  // Of "1,613.7 at most" a count of 1,614 is over, so that it is not rounded.
  return std::abs(value) >= 100 && std::abs(value) < 9e12 ? thousandths_text(value)
                                                          : real_text(value);
}

std::string_view relation(BudgetKind kind) {
  switch (kind) {
    case BudgetKind::below:
      return "below";
    case BudgetKind::above:
      return "above";
    case BudgetKind::at_least:
      return "at least";
    case BudgetKind::equal:
      return "exactly";
    default:
      return "at most";
  }
}

std::string change_of(double value, double base) {
  return signed_percent(100 * (value / base - 1));
}

std::string interval_text(const CheckedBudget& checked) {
  const Bounds& bounds = *checked.interval;
  if (checked.budget.kind == BudgetKind::percent_of_base && checked.base && *checked.base > 0)
    return change_of(bounds.low, *checked.base) + " to " + change_of(bounds.high, *checked.base);
  return value_text(checked.budget, bounds.low) + " to " + value_text(checked.budget, bounds.high);
}

std::string joined(const std::vector<std::string>& texts, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < std::min(texts.size(), limit); ++i)
    out += (i == 0 ? "" : ", ") + shorten_middle(printable(texts[i]), kLongestCell);
  if (texts.size() > limit) out += " and " + std::to_string(texts.size() - limit) + " more";
  return out;
}

std::string differing(const Check& check) {
  return shorten_middle(printable(differs_text(check.differs)), kLongestDiffers);
}

std::string_view title_of(Judgement judgement) {
  switch (judgement) {
    case Judgement::within:
      return "within";
    case Judgement::over:
      return "over";
    default:
      return "cannot tell";
  }
}

std::string summary(const CheckedRuns& checked) {
  std::size_t all = 0;
  for (const Check& check : checked.checks) all += check.budgets.size();
  std::string text = std::string(title_of(checked.judgement())) + "; of " + std::to_string(all) +
                     (all == 1 ? " budget " : " budgets ");
  return text + std::to_string(checked.count(Judgement::within)) + " certainly within, " +
         std::to_string(checked.count(Judgement::over)) + " certainly over, " +
         std::to_string(checked.count(Judgement::undecided)) + " cannot tell.";
}

std::string reference_text(const Check& check) {
  std::string text = joined(check.base, kInputs);
  if (check.reference != "base") text += ", " + check.reference;
  if (!check.when.empty()) text += ", saved " + check.when;
  return text;
}

std::string coloured(const CheckedBudget& budget, const Style& style) {
  const std::string padded = pad_right(title_of(budget.judgement), kLabelWidth);
  if (budget.judgement == Judgement::within) return style.green(padded);
  return budget.judgement == Judgement::over ? style.red(padded) : style.yellow(padded);
}

std::string budget_text(const CheckedBudget& budget, const Style& style) {
  const std::string values = checked_values(budget);
  const std::string reason = checked_reason(budget);
  std::string text = budget.budget.text + ": " + values;
  if (!reason.empty()) text += (values.empty() ? "" : "; ") + reason;
  const std::size_t room = style.width > kLabelWidth + 20 ? style.width - kLabelWidth : 20;
  return coloured(budget, style) + wrap(printable(text), room, std::string(kLabelWidth, ' ')) +
         "\n";
}

std::string markdown_row(const CheckedBudget& budget) {
  return "| " + std::string(title_of(budget.judgement)) + " | " + short_cell(budget.budget.text) +
         " | " + markdown_cell(checked_values(budget)) + " | " +
         short_cell(checked_reason(budget)) + " |\n";
}

std::vector<const CheckedBudget*> worst_first(const std::vector<CheckedBudget>& budgets) {
  std::vector<const CheckedBudget*> order;
  order.reserve(budgets.size());
  for (const CheckedBudget& budget : budgets) order.push_back(&budget);
  std::ranges::stable_sort(order, std::ranges::greater(), &CheckedBudget::judgement);
  return order;
}

}  // namespace

std::string checked_values(const CheckedBudget& checked) {
  const Budget& budget = checked.budget;
  if (!checked.now) return {};
  std::string text = checked.rank == kAbsent ? "" : "rank " + std::to_string(checked.rank) + ", ";
  const auto shown = [&](const std::optional<double>& value) {
    return value ? value_text(budget, *value) : std::string("not recorded");
  };
  if (budget.relative()) text += shown(checked.base) + " → ";
  text += shown(checked.now);
  const bool percent = budget.kind == BudgetKind::percent_of_base && checked.base && checked.now &&
                       *checked.base > 0;
  if (percent) text += ", " + change_of(checked.estimate.value_or(*checked.now), *checked.base);
  if (checked.estimate)
    text += (percent ? "" : ", " + value_text(budget, *checked.estimate)) + " by pairs";
  if (checked.interval) text += " (95 % interval " + interval_text(checked) + ")";
  if (checked.limit) text += ", " + std::string(relation(budget.kind)) + " " + shown(checked.limit);
  return text;
}

std::string checked_reason(const CheckedBudget& checked) {
  if (checked.basis.empty() || checked.reason.empty()) return checked.basis + checked.reason;
  return checked.basis + "; " + checked.reason;
}

std::string render_check_text(const CheckedRuns& checked, const Style& style) {
  std::string text = paragraph("Check", summary(checked), style);
  text += paragraph("New", joined(checked.now, kInputs), style);
  for (const Check& check : checked.checks) {
    text += paragraph("Base", reference_text(check), style);
    const std::string differs = differing(check);
    if (!differs.empty()) text += paragraph("Differs", differs, style);
    for (const CheckedBudget& budget : check.budgets) text += budget_text(budget, style);
  }
  return in_charset(text, style);
}

std::string render_check_markdown(const CheckedRuns& checked) {
  std::string text = "## Performance check: " + markdown_cell(summary(checked)) + "\n";
  text += "\n- New: " + markdown_cell(joined(checked.now, kInputs)) + "\n";
  for (const Check& check : checked.checks) {
    text += "\n- Base: " + markdown_cell(reference_text(check)) + "\n";
    const std::string differs = differing(check);
    if (!differs.empty()) text += "- Differs: " + markdown_cell(differs) + "\n";
    if (!check.budgets.empty()) text += "\n| | budget | measured | |\n|---|---|---|---|\n";
    std::size_t left = check.budgets.size();
    for (const CheckedBudget* const budget : worst_first(check.budgets)) {
      const std::string row = markdown_row(*budget);
      if (text.size() + row.size() > kLargestMarkdown) break;
      text += row;
      --left;
    }
    if (left > 0) text += "\n" + std::to_string(left) + " more budgets do not fit here.\n";
  }
  return text;
}

}  // namespace fathom

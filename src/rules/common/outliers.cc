// Finds the counted steps that are far longer than the others.
#include "rules/common/outliers.h"

#include "analysis/pipeline_fill.h"
#include "analysis/structure/stretches.h"
#include "rules/common/counted.h"
#include "stats/long_outliers.h"
#include "stats/summary.h"

namespace fathom {
namespace {

constexpr std::size_t kFewestForLeading = 3;
constexpr double kLongLeading = 1.5;

double length_of(const Step* step) { return static_cast<double>(to_ns(step->window.length())); }

}  // namespace

Outliers find_outliers(std::span<const Step* const> steps) {
  std::vector<double> sorted;
  sorted.reserve(steps.size());
  for (const Step* const step : steps) sorted.push_back(length_of(step));
  std::ranges::sort(sorted);
  Outliers found{.steps = {}, .median = quantile(sorted, 0.5)};
  const std::optional<double> fence = fence_of_long(sorted);
  if (!fence) return found;
  for (const Step* const step : steps) {
    const double length = length_of(step);
    if (length <= *fence) continue;
    found.steps.push_back(step);
    found.excess += duration_ns(static_cast<std::int64_t>(length - found.median));
  }
  std::ranges::sort(found.steps, std::less<>());
  return found;
}

std::span<const Step* const> leading_long_steps(const RuleContext& rules) {
  if (rules.steps.size() < kFewestForLeading) return {};
  const Duration median = median_of(step_lengths(rules));
  const double limit = kLongLeading * static_cast<double>(to_ns(median));
  const auto usual = std::ranges::find_if(rules.steps, [&](const Step* step) {
    const bool first = step == rules.steps.front();
    const Duration length = first ? length_without_fill(*step, median) : step->window.length();
    return static_cast<double>(to_ns(length)) <= limit;
  });
  return {rules.steps.begin(), usual};
}

}  // namespace fathom

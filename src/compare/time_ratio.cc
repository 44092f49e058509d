// Chooses the interval that the number of runs allows.
#include "compare/time_ratio.h"

#include <algorithm>

#include "stats/median_ratio.h"
#include "stats/paired_ratio.h"
#include "stats/summary.h"

namespace fathom {
namespace {

/// The sign test claims nothing below.
constexpr std::size_t kFewestPairs = 6;

constexpr std::string_view kOneRun =
    "one run a side does not show how runs vary, 6 pairs in random order do";

std::vector<double> sorted(std::vector<double> values) {
  std::ranges::sort(values);
  return values;
}

/// What each of these values of base allows.
std::vector<double> limits_of(const Budget& budget, std::vector<double> base) {
  for (double& value : base) value = budget.limit(value);
  return base;
}

std::vector<double> medians_of(const StepLengths& runs) {
  std::vector<double> medians;
  for (const std::vector<double>& run : runs) medians.push_back(quantile(sorted(run), 0.5));
  return medians;
}

/// A sample by a number that has no noise.
std::optional<MedianRatio> ratio_to_number(std::vector<double> now, double limit) {
  if (!(limit > 0)) return std::nullopt;
  const std::vector<double> values = sorted(std::move(now));
  MedianRatio out{.ratio = quantile(values, 0.5) / limit, .interval = median_interval(values)};
  if (out.interval)
    out.interval = Bounds{.low = out.interval->low / limit, .high = out.interval->high / limit};
  return out;
}

/// Within one run of each side.
std::optional<MedianRatio> ratio_within(const Budget& budget, const std::vector<double>& base,
                                        const std::vector<double>& now) {
  if (!budget.relative()) return ratio_to_number(now, budget.limit(0));
  return median_ratio(limits_of(budget, base), now);
}

TimeRatio no_interval(double ratio, std::string reason) {
  return {.ratio = ratio,
          .interval = {},
          .covers_runs = false,
          .basis = {},
          .reason = std::move(reason)};
}

std::string fewest_steps(const Budget& budget) {
  const std::size_t fewest = budget.relative() ? fewest_for_median_ratio() : kFewestPairs;
  return "an interval needs " + std::to_string(fewest) + " steps in each run";
}

TimeRatio of_one_run(const Budget& budget, const std::vector<double>& base,
                     const std::vector<double>& now) {
  const std::optional<MedianRatio> ratio = ratio_within(budget, base, now);
  if (!ratio) return no_interval(1, "the limit is not above 0");
  if (!ratio->interval) return no_interval(ratio->ratio, fewest_steps(budget));
  return {.ratio = ratio->ratio,
          .interval = ratio->interval,
          .covers_runs = false,
          .basis = "within one run a side",
          .reason = std::string(kOneRun)};
}

/// Too few runs for an interval over runs: what the intervals within them span together.
TimeRatio of_few_runs(const Budget& budget, const StepLengths& base, const StepLengths& now) {
  const bool paired = base.size() == now.size() || !budget.relative();
  std::vector<double> ratios;
  std::optional<Bounds> span;
  for (std::size_t i = 0; i < now.size(); ++i) {
    for (std::size_t j = 0; j < base.size(); ++j) {
      if (paired && j != std::min(i, base.size() - 1)) continue;
      const std::optional<MedianRatio> one = ratio_within(budget, base[j], now[i]);
      if (!one) return no_interval(1, "the limit is not above 0");
      if (!one->interval) return no_interval(one->ratio, fewest_steps(budget));
      ratios.push_back(one->ratio);
      span = span ? Bounds{.low = std::min(span->low, one->interval->low),
                           .high = std::max(span->high, one->interval->high)}
                  : *one->interval;
    }
  }
  return {.ratio = quantile(sorted(std::move(ratios)), 0.5),
          .interval = span,
          .covers_runs = false,
          .basis = "all that the intervals within " + std::to_string(now.size()) + " runs span",
          .reason = "an interval over runs needs 6 pairs in random order"};
}

}  // namespace

TimeRatio time_ratio(const Budget& budget, const StepLengths& base, const StepLengths& now) {
  if (now.size() == 1 && (base.size() == 1 || !budget.relative()))
    return of_one_run(budget, base.front(), now.front());
  const std::vector<double> base_medians = limits_of(budget, medians_of(base));
  const std::vector<double> medians = medians_of(now);
  const std::string runs = std::to_string(now.size());
  if (!budget.relative() && now.size() >= kFewestPairs) {
    const std::optional<MedianRatio> ratio = ratio_to_number(medians, budget.limit(0));
    if (!ratio) return no_interval(1, "the limit is not above 0");
    return {ratio->ratio, ratio->interval, true, "over " + runs + " runs", {}};
  }
  if (budget.relative() && base.size() == now.size() && now.size() >= kFewestPairs) {
    const std::optional<PairedRatio> ratio = paired_ratio(base_medians, medians);
    if (!ratio) return no_interval(1, "the limit is not above 0");
    return {ratio->ratio, ratio->interval, true, "over " + runs + " pairs of runs", {}};
  }
  if (budget.relative() && base.size() != now.size()) {
    const std::optional<MedianRatio> ratio = median_ratio(base_medians, medians);
    if (ratio && ratio->interval)
      return {ratio->ratio, ratio->interval, true,
              "over " + std::to_string(base.size()) + " and " + runs + " runs",
              "runs without a partner cannot be paired: drift between them counts as change"};
  }
  return of_few_runs(budget, base, now);
}

}  // namespace fathom

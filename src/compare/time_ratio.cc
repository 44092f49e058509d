// Chooses the interval that the number of runs allows.
#include "compare/time_ratio.h"

#include <algorithm>

#include "stats/median_ratio.h"
#include "stats/paired_ratio.h"
#include "stats/summary.h"
#include "stats/warm_up.h"

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
  for (const RunLengths& run : runs) medians.push_back(quantile(sorted(run.lengths_ns), 0.5));
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

/// Why there is no interval within two runs.
std::string fewest_steps(const Budget& budget, const std::vector<double>& base,
                         const std::vector<double>& now) {
  const std::size_t fewest = budget.relative() ? fewest_for_median_ratio() : kFewestPairs;
  if (now.size() >= fewest && (base.size() >= fewest || !budget.relative()))
    return "so many times of base are 0 that the interval has no end";
  return "an interval needs " + std::to_string(fewest) + " steps in each run";
}

bool never_steady(const std::vector<double>& lengths) {
  const std::optional<WarmUp> found = warm_up_of_steps(lengths);
  return found && found->kind == Steadiness::never_steady;
}

bool never_steady(const StepLengths& runs) {
  return std::ranges::any_of(runs,
                             [](const RunLengths& run) { return never_steady(run.lengths_ns); });
}

TimeRatio of_one_run(const Budget& budget, const std::vector<double>& base,
                     const std::vector<double>& now) {
  const std::optional<MedianRatio> ratio = ratio_within(budget, base, now);
  if (!ratio) return no_interval(1, "the limit is not above 0");
  if (!ratio->interval) return no_interval(ratio->ratio, fewest_steps(budget, base, now));
  const std::string unsteady =
      unsteady_sides(budget.relative() && never_steady(base), never_steady(now));
  if (!unsteady.empty()) return no_interval(ratio->ratio, unsteady);
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
      const std::optional<MedianRatio> one =
          ratio_within(budget, base[j].lengths_ns, now[i].lengths_ns);
      if (!one) return no_interval(1, "the limit is not above 0");
      if (!one->interval)
        return no_interval(one->ratio, fewest_steps(budget, base[j].lengths_ns, now[i].lengths_ns));
      ratios.push_back(one->ratio);
      span = span ? Bounds{.low = std::min(span->low, one->interval->low),
                           .high = std::max(span->high, one->interval->high)}
                  : *one->interval;
    }
  }
  const double middle = quantile(sorted(std::move(ratios)), 0.5);
  const std::string unsteady =
      unsteady_sides(budget.relative() && never_steady(base), never_steady(now));
  if (!unsteady.empty()) return no_interval(middle, unsteady);
  return {.ratio = middle,
          .interval = span,
          .covers_runs = false,
          .basis = "all that the intervals within " + std::to_string(now.size()) + " runs span",
          .reason = "an interval over runs needs 6 pairs in random order"};
}

std::vector<StartTime> starts_of(const StepLengths& runs) {
  std::vector<StartTime> starts;
  for (const RunLengths& run : runs) starts.push_back(run.started);
  return starts;
}

/// At least kFewestPairs runs a side. `base` is what each run of base allows.
std::optional<TimeRatio> of_many_runs(const std::vector<double>& base,
                                      const std::vector<double>& now, const Turns& turns) {
  if (turns.reason.empty()) {
    std::vector<double> base_pairs;
    std::vector<double> new_pairs;
    for (const auto& [before, after] : turns.pairs) {
      base_pairs.push_back(base[before]);
      new_pairs.push_back(now[after]);
    }
    const std::optional<PairedRatio> ratio = paired_ratio(base_pairs, new_pairs);
    if (!ratio) return std::nullopt;
    const std::string alone =
        turns.alone == 0 ? ""
                         : std::to_string(turns.alone) +
                               " recordings without a neighbour of the other side left out";
    return TimeRatio{.ratio = ratio->ratio,
                     .interval = ratio->interval,
                     .covers_runs = true,
                     .basis = "over " + std::to_string(turns.pairs.size()) + " pairs of runs",
                     .reason = alone,
                     .of_pairs = true};
  }
  if (base.size() == now.size()) {
    const std::optional<PairedRatio> ratio = paired_ratio(base, now);
    if (!ratio) return std::nullopt;
    return TimeRatio{.ratio = ratio->ratio,
                     .interval = ratio->interval,
                     .covers_runs = false,
                     .basis = "over " + std::to_string(now.size()) + " runs a side, not in turns",
                     .reason = turns.reason,
                     .of_pairs = true};
  }
  const std::optional<MedianRatio> ratio = median_ratio(base, now);
  if (!ratio) return std::nullopt;
  return TimeRatio{ratio->ratio, ratio->interval, false,
                   "over " + std::to_string(base.size()) + " and " + std::to_string(now.size()) +
                       " runs, not in turns",
                   turns.reason};
}

}  // namespace

StepLengths lengths_of(const std::vector<const Profile*>& profiles) {
  StepLengths lengths;
  for (const Profile* const profile : profiles)
    lengths.push_back({.lengths_ns = profile->lengths(), .started = profile->started_unix_ns});
  return lengths;
}

std::optional<WarmUp> warm_up_of_steps(std::span<const double> lengths) {
  // Few enough that it costs little beside reading the recording.
  constexpr std::size_t kMost = 250;
  return find_warm_up_of_many(lengths, kMost);
}

std::string unsteady_sides(bool base, bool now) {
  if (!base && !now) return {};
  return std::string("the times of ") +
         (base && now ? "both sides"
          : base      ? "base"
                      : "new") +
         " were never steady, so that they have no one level";
}

TimeRatio time_ratio(const Budget& budget, const StepLengths& base, const StepLengths& now) {
  // A number is a limit without a base, which may lack a rank.
  if (!budget.relative() && base.empty()) return time_ratio(budget, StepLengths(1), now);
  if (now.size() == 1 && (base.size() == 1 || !budget.relative()))
    return of_one_run(budget, base.front().lengths_ns, now.front().lengths_ns);
  const std::vector<double> medians = medians_of(now);
  if (!budget.relative() && now.size() >= kFewestPairs) {
    const std::optional<MedianRatio> ratio = ratio_to_number(medians, budget.limit(0));
    if (!ratio) return no_interval(1, "the limit is not above 0");
    return {
        ratio->ratio, ratio->interval, true, "over " + std::to_string(now.size()) + " runs", {}};
  }
  if (budget.relative() && std::min(base.size(), now.size()) >= kFewestPairs) {
    const std::vector<double> allowed = limits_of(budget, medians_of(base));
    const std::optional<TimeRatio> ratio =
        of_many_runs(allowed, medians, turns_of(starts_of(base), starts_of(now), kFewestPairs));
    return ratio ? *ratio : no_interval(1, "the limit is not above 0");
  }
  return of_few_runs(budget, base, now);
}

}  // namespace fathom

// Judges budgets by intervals and by exact counts.
#include "compare/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/quantity_text.h"
#include "compare/count_check.h"
#include "compare/pool.h"
#include "compare/time_ratio.h"
#include "stats/summary.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, 3> kJudgements = {"within", "cannot_tell", "over"};

/// Clocks further apart than this decide about times.
constexpr double kSameClock = 0.01;

/// Where these differ, a step is another one, or takes another time for the same work.
constexpr std::string_view kDecisive[] = {"device", "host.cpu", "batch", "batch_size"};
/// Is not per step.
constexpr std::string_view kPeakMemory = "peak_allocated_bytes";
constexpr std::string_view kWholeRecording = "the whole recording";

/// The recordings of one rank, one of each run that has it.
struct RankRuns {
  std::int64_t rank = kAbsent;
  std::vector<const Profile*> base;
  std::vector<const Profile*> now;
  std::vector<ComparedCondition> differs;  // empty where a side has no run of it
};

/// By rank; of runs of one recording each, one group.
std::vector<RankRuns> by_rank(const std::vector<const Run*>& base,
                              const std::vector<const Run*>& now) {
  const auto several = [](const Run* run) { return run->size() > 1; };
  const bool ranks = std::ranges::any_of(base, several) || std::ranges::any_of(now, several);
  std::map<std::int64_t, RankRuns> groups;
  const auto collect = [&](const std::vector<const Run*>& runs,
                           std::vector<const Profile*> RankRuns::*side) {
    for (const Run* const run : runs) {
      for (const Profile& profile : *run) {
        RankRuns& group = groups[ranks ? profile.rank : kAbsent];
        group.rank = ranks ? profile.rank : kAbsent;
        (group.*side).push_back(&profile);
      }
    }
  };
  collect(base, &RankRuns::base);
  collect(now, &RankRuns::now);
  std::vector<RankRuns> out;
  out.reserve(groups.size());
  for (auto& [rank, group] : groups) {
    if (!group.base.empty() && !group.now.empty())
      group.differs =
          differing_conditions(pooled_conditions(group.base), pooled_conditions(group.now));
    out.push_back(std::move(group));
  }
  return out;
}

/// Of the runs' median steps, in ns.
double median_step(const std::vector<const Profile*>& profiles) {
  std::vector<double> medians;
  for (RunLengths& run : lengths_of(profiles)) {
    std::ranges::sort(run.lengths_ns);
    medians.push_back(quantile(run.lengths_ns, 0.5));
  }
  std::ranges::sort(medians);
  return quantile(medians, 0.5);
}

std::string text_of(const ComparedCondition& differs) {
  return differs.title + " differs: " + differs.base + " → " + differs.now;
}

/// What makes a step of both sides another thing, or "".
std::string other_step(const RankRuns& runs) {
  const auto is_whole = [](const std::string& steps) {
    return steps.find(kWholeRecording) != std::string::npos;
  };
  for (const ComparedCondition& differs : runs.differs) {
    if (differs.id == "step" && (is_whole(differs.base) || is_whole(differs.now)))
      return text_of(differs);
  }
  return {};
}

/// What makes the times of both sides incomparable, or "".
std::string other_conditions(const RankRuns& runs) {
  for (const ComparedCondition& differs : runs.differs) {
    const bool decides = std::ranges::find(kDecisive, differs.id) != std::end(kDecisive) &&
                         !differs.base.empty() && !differs.now.empty();
    if (decides) return text_of(differs);
  }
  return other_step(runs);
}

/// Mean over the runs; unset where one lacks it.
std::optional<double> clock_of(const std::vector<const Profile*>& profiles) {
  double sum = 0;
  for (const Profile* const profile : profiles) {
    if (!profile->clock_mhz) return std::nullopt;
    sum += *profile->clock_mhz;
  }
  return sum / static_cast<double>(profiles.size());
}

bool lower_is_kept(BudgetKind kind) {
  return kind != BudgetKind::above && kind != BudgetKind::at_least;
}

/// Of the interval of value / limit. A limit that may be reached is kept at 1.
Judgement judge(const Budget& budget, const Bounds& ratio) {
  const auto kept = [&](double at) {
    if (budget.kind == BudgetKind::below) return at < 1;
    if (budget.kind == BudgetKind::above) return at > 1;
    return lower_is_kept(budget.kind) ? at <= 1 : at >= 1;
  };
  if (kept(ratio.low) && kept(ratio.high)) return Judgement::within;
  return kept(ratio.low) || kept(ratio.high) ? Judgement::undecided : Judgement::over;
}

class RankChecker {
 public:
  RankChecker(const Budget& budget, const RankRuns& runs, Claims claims)
      : budget_(budget), runs_(runs), claims_(claims) {
    out_.budget = budget;
    out_.rank = runs.rank;
  }

  CheckedBudget check(std::size_t base_runs, std::size_t now_runs) {
    if (runs_.now.size() < now_runs) return lacking("new");
    if (budget_.relative() && runs_.base.size() < base_runs) return lacking("base");
    if (budget_.of_time()) {
      check_time();
    } else {
      check_count();
    }
    return std::move(out_);
  }

 private:
  /// Undecided, for a side has no run of it.
  CheckedBudget lacking(std::string_view side) {
    out_.missing.push_back((runs_.rank == kAbsent ? "a recording without a rank"
                                                  : "rank " + std::to_string(runs_.rank)) +
                           " is missing in " + std::string(side));
    return std::move(out_);
  }

  void check_time() {
    out_.now = median_step(runs_.now);
    if (!runs_.base.empty()) out_.base = median_step(runs_.base);
    out_.limit = budget_.limit(out_.base.value_or(0));
    if (budget_.relative()) {
      out_.reason = other_conditions(runs_);
      if (!out_.reason.empty()) return;
    }
    TimeRatio ratio = time_ratio(budget_, lengths_of(runs_.base), lengths_of(runs_.now));
    if (same_recordings() && *out_.limit > 0)
      ratio = {.ratio = *out_.now / *out_.limit,
               .interval = Bounds{.low = *out_.now / *out_.limit, .high = *out_.now / *out_.limit},
               .covers_runs = true,
               .basis = "the same recording",
               .reason = {}};
    out_.reason = ratio.reason;
    out_.basis = ratio.basis;
    out_.covers_runs = ratio.covers_runs;
    if (!ratio.interval) return;
    out_.interval = Bounds{.low = ratio.interval->low * *out_.limit,
                           .high = ratio.interval->high * *out_.limit};
    if (ratio.of_pairs) out_.estimate = ratio.ratio * *out_.limit;
    if (!ratio.covers_runs && claims_ == Claims::over_runs) {
      out_.reason += "; --within-runs decides about these runs only";
      return;
    }
    out_.judgement = judge(budget_, *ratio.interval);
    if (budget_.relative()) look_at_clocks(*ratio.interval);
  }

  [[nodiscard]] bool same_recordings() const {
    return budget_.relative() &&
           std::ranges::equal(runs_.base, runs_.now, [](const Profile* base, const Profile* now) {
             return same_recording(*base, *now);
           });
  }

  /// Another clock: believed only where cycles say the same.
  void look_at_clocks(const Bounds& ratio) {
    const std::optional<double> base = clock_of(runs_.base);
    const std::optional<double> now = clock_of(runs_.now);
    if (!base || !now || !(*base > 0)) return;
    const double clock = *now / *base;
    if (std::abs(clock - 1) <= kSameClock) return;
    out_.clock_ratio = clock;
    out_.other_clock =
        "the device's clock differs: " + real_text(*base) + " → " + real_text(*now) + " MHz";
    if (judge(budget_, {.low = ratio.low * clock, .high = ratio.high * clock}) == out_.judgement)
      return;
    out_.judgement = Judgement::undecided;
    out_.reason = out_.other_clock + ", and by cycles the judgement is another";
  }

  void check_count() {
    const std::vector<StepSum> now = sums_of(runs_.now);
    const std::vector<StepSum> base = sums_of(runs_.base);
    if (!now.empty()) out_.now = now.front().mean();
    if (!base.empty()) out_.base = base.front().mean();
    const std::string lacks = ": there is " + std::string(budget_.metric->lacks);
    if (now.empty()) {
      out_.reason = "not recorded in new" + lacks;
      return;
    }
    if (budget_.relative() && base.empty()) {
      out_.reason = "not recorded in base" + lacks;
      return;
    }
    out_.limit = budget_.limit(out_.base.value_or(0));
    if (budget_.relative() && budget_.metric->counter != kPeakMemory)
      out_.reason = other_step(runs_);
    if (!out_.reason.empty()) return;
    judge_counts(budget_.relative() ? base : std::vector<StepSum>(1), now);
  }

  void judge_counts(const std::vector<StepSum>& base, const std::vector<StepSum>& now) {
    bool all = true;
    bool none = true;
    for (const StepSum& before : base) {
      for (const StepSum& after : now) {
        const bool kept = keeps(budget_, before, after);
        all = all && kept;
        none = none && !kept;
      }
    }
    out_.judgement = all ? Judgement::within : none ? Judgement::over : Judgement::undecided;
    if (out_.judgement == Judgement::undecided)
      out_.reason = "it varies between runs: " + range_of(now) +
                    (budget_.relative() ? " in new, " + range_of(base) + " in base" : "");
  }

  [[nodiscard]] static std::string range_of(const std::vector<StepSum>& sums) {
    const auto [least, most] = std::ranges::minmax(sums, {}, &StepSum::mean);
    return real_text(least.mean()) + " to " + real_text(most.mean());
  }

  /// Of each run; empty where one lacks it.
  [[nodiscard]] std::vector<StepSum> sums_of(const std::vector<const Profile*>& profiles) const {
    std::vector<StepSum> sums;
    for (const Profile* const profile : profiles) {
      const auto at = std::ranges::find(profile->counters, budget_.metric->counter, &Counter::id);
      if (at == profile->counters.end()) return {};
      sums.push_back({.sum = at->value, .steps = at->per_step ? profile->steps() : 1});
    }
    return sums;
  }

  const Budget& budget_;
  const RankRuns& runs_;
  Claims claims_;
  CheckedBudget out_;
};

/// The worse of two, and of equally bad ones that nearer to its limit.
bool worse(const CheckedBudget& a, const CheckedBudget& b) {
  if (a.judgement != b.judgement) return a.judgement > b.judgement;
  const auto far = [](const CheckedBudget& each) {
    const std::optional<double> now = each.estimate ? each.estimate : each.now;
    const double ratio = each.limit && now && *each.limit > 0 ? *now / *each.limit : 0;
    return lower_is_kept(each.budget.kind) ? ratio : -ratio;
  };
  return far(a) > far(b);
}

CheckedBudget check_budget(const Budget& budget, const std::vector<RankRuns>& groups,
                           std::size_t base_runs, std::size_t now_runs, Claims claims) {
  std::optional<CheckedBudget> worst;
  std::vector<std::string> missing;
  for (const RankRuns& group : groups) {
    CheckedBudget one = RankChecker(budget, group, claims).check(base_runs, now_runs);
    missing.insert(missing.end(), one.missing.begin(), one.missing.end());
    if (!worst || worse(one, *worst)) worst = std::move(one);
  }
  for (const std::string& each : missing)
    worst->reason += (worst->reason.empty() ? "" : "; ") + each;
  worst->missing = std::move(missing);
  return std::move(*worst);
}

/// On the first rank, then on others alone.
std::vector<ComparedCondition> what_differs(const std::vector<RankRuns>& groups) {
  std::vector<ComparedCondition> differs = groups.front().differs;
  for (const RankRuns& group : groups) add_of_rank(differs, group.rank, group.differs);
  return differs;
}

std::vector<std::string> inputs_of(std::span<const Run> runs) {
  std::vector<std::string> inputs;
  for (const Run& run : runs) {
    for (const Profile& profile : run) inputs.push_back(profile.input);
  }
  return inputs;
}

}  // namespace

std::string_view to_string(Judgement judgement) {
  return kJudgements[static_cast<std::size_t>(judgement)];
}

Judgement CheckedRuns::judgement() const {
  Judgement worst = Judgement::within;
  for (const Check& check : checks) {
    for (const CheckedBudget& budget : check.budgets) worst = std::max(worst, budget.judgement);
  }
  return worst;
}

std::size_t CheckedRuns::count(Judgement judgement) const {
  std::size_t sum = 0;
  for (const Check& check : checks)
    sum += static_cast<std::size_t>(
        std::ranges::count(check.budgets, judgement, &CheckedBudget::judgement));
  return sum;
}

CheckedRuns check_runs(std::span<const CheckReference> references, std::span<const Run> now,
                       std::span<const Budget> budgets, Claims claims) {
  CheckedRuns out{.now = inputs_of(now), .checks = {}};
  for (const CheckReference& reference : references) {
    const std::vector<const Run*> base_runs = distinct_runs(reference.runs);
    const std::vector<const Run*> new_runs = distinct_runs(now);
    const std::vector<RankRuns> groups = by_rank(base_runs, new_runs);
    const std::string copies = copies_note(reference.runs, now);
    Check check{.reference = reference.name,
                .when = reference.when,
                .base = inputs_of(reference.runs),
                .budgets = {},
                .differs = what_differs(groups)};
    for (const Budget& budget : budgets) {
      if (!budget.relative() && !out.checks.empty()) continue;
      check.budgets.push_back(
          check_budget(budget, groups, base_runs.size(), new_runs.size(), claims));
      std::string& reason = check.budgets.back().reason;
      if (!copies.empty()) reason += (reason.empty() ? "" : "; ") + copies;
    }
    out.checks.push_back(std::move(check));
  }
  return out;
}

}  // namespace fathom

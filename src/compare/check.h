// Do recordings keep budgets? Certainly, certainly not, or it is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/budget.h"
#include "compare/comparison.h"
#include "compare/runs.h"

namespace fathom {

enum class Judgement : std::uint8_t {
  within,     ///< Certainly: all of the interval, or the exact count.
  undecided,  ///< The interval holds the limit, or something that decides is not known.
  over,       ///< Certainly.
};
/// Stable, for JSON: "within", "cannot_tell", "over".
std::string_view to_string(Judgement judgement);

/// One budget beside one reference. Values are of the metric (ns, bytes, counts), per step.
struct CheckedBudget {
  Budget budget;
  Judgement judgement = Judgement::undecided;
  std::int64_t rank = kAbsent;  ///< Of several ranks the one that is worst.
  std::optional<double> base;   ///< Unset where not recorded.
  std::optional<double> now;
  std::optional<double> limit;     ///< Of `now`, beside `base`.
  std::optional<Bounds> interval;  ///< Of `now`; unset for counts, which have no noise.
  /// What the interval is of where it is of pairs of runs: `now` as it follows from the median of
  /// their ratios. Unset where the interval is of `now` itself.
  std::optional<double> estimate;
  bool covers_runs = false;          ///< The interval covers how runs vary.
  std::vector<std::string> missing;  ///< What each rank lacks, of all ranks; also in `reason`.
  /// The device's mean clock, new by base, where it differs enough to decide about times.
  std::optional<double> clock_ratio;
  std::string other_clock;  ///< Names both clocks; empty where it does not.
  std::string basis;        ///< What the interval is of.
  std::string reason;       ///< Why it is unknown; else what to know of the decision.
};

/// What the budgets are checked against.
struct CheckReference {
  std::string name;  ///< "base"; of a baseline: "last" and "accepted".
  std::string when;  ///< When a baseline was saved, for people; else empty.
  Runs runs;
};

struct Check {
  std::string reference;
  std::string when;
  std::vector<std::string> base;  ///< Its inputs.
  std::vector<CheckedBudget> budgets;
  std::vector<ComparedCondition> differs;
};

struct CheckedRuns {
  std::vector<std::string> now;  ///< The inputs that are checked.
  std::vector<Check> checks;     ///< One for each reference; never empty.

  /// The worst of all: `over` before `undecided` before `within`.
  [[nodiscard]] Judgement judgement() const;
  [[nodiscard]] std::size_t count(Judgement judgement) const;
};

/// What times may be claimed by. Two runs of one program differ by more than their steps do.
enum class Claims : std::uint8_t {
  over_runs,    ///< An interval that covers how runs vary: 6 pairs of runs, recorded in turns.
  within_runs,  ///< Also one that is true of the runs at hand only.
};

/// References, runs and budgets are not empty. Budgets without a base are checked once, beside the
/// first reference. A time that was taken on another device or processor, or with another batch, is
/// `undecided`; so is one whose device had another clock by more than 1 %, unless its cycles say
/// the same. Of ranks each is judged, and the worst counts; a rank that one side lacks leaves
/// budgets undecided.
CheckedRuns check_runs(std::span<const CheckReference> references, std::span<const Run> now,
                       std::span<const Budget> budgets, Claims claims);

}  // namespace fathom

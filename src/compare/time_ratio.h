// How far the step time of some runs is from a limit: a ratio with its interval.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/budget.h"
#include "compare/profile.h"
#include "compare/turns.h"
#include "stats/median_interval.h"
#include "stats/warm_up.h"

namespace fathom {

struct RunLengths {
  std::vector<double> lengths_ns;  ///< Of the usual steps.
  StartTime started;
};
using StepLengths = std::vector<RunLengths>;
StepLengths lengths_of(const std::vector<const Profile*>& profiles);

/// Median step divided by what a budget allows.
struct TimeRatio {
  double ratio = 1;
  std::optional<Bounds> interval;  ///< At 95 %, of what `basis` names.
  /// Does the interval cover how runs vary? Else it is true of these runs only.
  bool covers_runs = false;
  std::string basis;   ///< "within the one run of each side", "over 8 pairs of runs".
  std::string reason;  ///< Why there is no interval; else what it does not cover.
  /// `ratio` and its interval are of the ratios of pairs of runs. The ratio of the medians of both
  /// sides is another number then, and may lie outside.
  bool of_pairs = false;
};

/// Whether the steps of one run were ever steady (stats/warm_up.h); of more than 250, as means of
/// neighbours.
std::optional<WarmUp> warm_up_of_steps(std::span<const double> lengths);

/// "the times of base were never steady, so that they have no one level"; "" where neither was
/// unsteady. Times are those of steps, or of whole runs.
std::string unsteady_sides(bool base, bool now);

/// One run a side: the interval within the runs (stats/median_ratio.h), which does not know how
/// runs vary. From 6 pairs of runs on that were recorded in turns (compare/turns.h): the sign
/// test's interval of the medians (stats/paired_ratio.h), exact where the order within each pair
/// was drawn at random. As many runs in another order: the same of pairs as they were named, or of
/// unequal numbers of at least 7 the interval of the ratio of medians; neither covers how runs
/// vary. Fewer: from the least to the most of the intervals within the runs. Neither side is empty,
/// nor a run; `base` may be where the limit is a number.
/// Where the steps of one run a side, or of one of few runs, were never steady, there is no
/// interval: they have no level that it could be of.
TimeRatio time_ratio(const Budget& budget, const StepLengths& base, const StepLengths& now);

}  // namespace fathom

// The ratio of two things that were measured in pairs, with an interval that holds for any noise.
#pragma once

#include <optional>
#include <span>

#include "stats/median_interval.h"

namespace fathom {

/// Second of a pair divided by its first.
struct PairedRatio {
  double ratio = 1;   ///< exp of the median log ratio.
  Bounds interval{};  ///< Of that, at the confidence that was asked for.
  /// Does the interval leave out 1? The sign test then rejects that both are equal.
  [[nodiscard]] bool differs() const { return interval.low > 1 || interval.high < 1; }
};

/// The sign test turned into an interval of the median log ratio. It is exact for any noise, drift
/// and patterns included, where the order within each pair was drawn at random: that draw alone
/// decides about the signs. A pair of which one value is 0 counts by its sign alone; one of two 0
/// counts against both ends. Unset below 6 pairs, where nothing can be claimed at 5 % (2·2^-5 is
/// more), for sides of unequal length, where so many values are 0 that an end is one of theirs, and
/// where a value is negative. Sources: Dixon and Mood,
/// "The statistical sign test", Journal of the American Statistical Association 41 (1946),
/// 557-566; Fisher, "The Design of Experiments" (1935), chapter 3, for randomisation. O(n log n).
std::optional<PairedRatio> paired_ratio(std::span<const double> base, std::span<const double> now,
                                        double confidence = 0.95);

}  // namespace fathom

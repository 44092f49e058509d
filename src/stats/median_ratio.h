// The ratio of the medians of two samples that were not measured in pairs.
#pragma once

#include <optional>
#include <vector>

#include "stats/median_interval.h"

namespace fathom {

struct MedianRatio {
  double ratio = 1;                ///< Median of the second sample by that of the first.
  std::optional<Bounds> interval;  ///< At 95 %; unset below 7 values a side, and without an end.
};

/// Each median has its order-statistic interval at 97.5 %, so that both hold at 95 % (Bonferroni's
/// inequality); the interval of the ratio goes from the least to the most that these allow. It
/// speaks about the values at hand: of one run each it does not know how runs vary. Unset where a
/// value is negative, the median of base is 0, or a side is empty; the interval is also unset where
/// the median of base may be 0. Sources: Thompson as in median_interval.h; Dunn,
/// "Multiple comparisons among means", Journal of the American Statistical Association 56 (1961),
/// 52-64, for intervals that hold together. O(n log n).
std::optional<MedianRatio> median_ratio(std::vector<double> base, std::vector<double> now);

/// So many values a side are needed for the interval.
std::size_t fewest_for_median_ratio();

}  // namespace fathom

// One side of a comparison described: centre with its interval, spread, tail, outliers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "stats/median_interval.h"
#include "stats/summary.h"

namespace fathom {

/// In the unit of the sample. Nothing is dropped: outliers are counted, and are in every number.
struct SampleSummary {
  std::size_t count = 0;
  double median = 0;
  std::optional<Bounds> median_interval;  ///< At 95 %; unset below 6 values.
  double mean = 0;
  double stddev = 0;  ///< Divided by count - 1; 0 for fewer than two values.
  double min = 0;
  double max = 0;
  std::optional<double> p95;  ///< Unset below 59 values, see samples_for_quantile().
  std::optional<double> p99;  ///< Unset below 299 values.
  /// Values more than 1.5 interquartile ranges outside of the quartiles (Tukey, "Exploratory Data
  /// Analysis", 1977).
  std::size_t outliers = 0;
};

/// All fields are 0 or unset for an empty sample. O(n log n).
SampleSummary describe(std::vector<double> values);

}  // namespace fathom

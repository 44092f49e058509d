// The confidence interval of a median by order statistics: exact whatever the distribution is.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace fathom {

/// Both ends of an interval, in the unit of what it is of.
struct Bounds {
  double low = 0;
  double high = 0;
};

/// Places of two values among n sorted ones, from 0.
struct RankPair {
  std::size_t low = 0;
  std::size_t high = 0;
};

/// The two order statistics between which the median lies with at least this confidence: those that
/// the sign test does not reject. Unset where n is too small: below 6 for 0.95. Source: Thompson,
/// "On confidence ranges for the median", Annals of Mathematical Statistics 7 (1936), 122-128.
/// O(√n) + O(1).
std::optional<RankPair> median_ranks(std::size_t n, double confidence);

/// The same as values. `sorted` ascending; the values must be independent of one another for the
/// confidence to hold.
std::optional<Bounds> median_interval(std::span<const double> sorted, double confidence = 0.95);

/// The smallest sample whose maximum lies above this quantile with the confidence: 1 - q^n. 59 for
/// 0.95, 299 for 0.99 (both at 0.95). Below it a percentile says nothing about the tail. Source:
/// Wilks, "Determination of sample sizes for setting tolerance limits", Annals of Mathematical
/// Statistics 12 (1941), 91-96.
std::size_t samples_for_quantile(double quantile, double confidence = 0.95);

}  // namespace fathom

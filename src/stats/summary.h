// Summary of a sample: the numbers that describe repeated measurements of one thing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace fathom {

/// All values are in the unit of the sample. Every field is 0 or unset for an empty sample.
struct Summary {
  std::size_t count = 0;
  double mean = 0;
  double stddev = 0;  ///< Of the sample (divided by count - 1); 0 for fewer than two values.
  double min = 0;
  double median = 0;
  double max = 0;
  std::optional<double> p95;  ///< Unset below 59 values, see samples_for_quantile().
  std::optional<double> p99;  ///< Unset below 299 values.
};

/// Takes the values by copy, because percentiles need them in order. O(n log n).
Summary summarize(std::vector<double> values);

/// The value below which `fraction` (0…1) of the sorted values lie, interpolated linearly between
/// neighbours: position (n - 1) * fraction, as numpy's default. 0 for an empty sample.
double quantile(const std::vector<double>& sorted, double fraction);

/// The same for the tail: unset where the sample is too small to say anything about it, see
/// samples_for_quantile().
std::optional<double> percentile(const std::vector<double>& sorted, double fraction);

/// Why a percentile is not given: "needs 59 values, has 12"; "" where it is.
std::string percentile_reason(std::size_t count, double fraction);

/// Mean, spread and extremes of a stream of values without keeping them (Welford's update, exact to
/// rounding).
class RunningMoments {
 public:
  void add(double value) {
    ++count_;
    const double before = value - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (value - mean_);
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] double mean() const { return mean_; }
  /// Of the sample (divided by count - 1); 0 for fewer than two values.
  [[nodiscard]] double stddev() const;

 private:
  std::size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace fathom

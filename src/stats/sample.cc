// Describes a sample.
#include "stats/sample.h"

#include <algorithm>

#include "stats/summary.h"

namespace fathom {
namespace {

constexpr double kFence = 1.5;

std::size_t count_outliers(const std::vector<double>& sorted) {
  const double first = quantile(sorted, 0.25);
  const double third = quantile(sorted, 0.75);
  const double reach = kFence * (third - first);
  return static_cast<std::size_t>(std::ranges::count_if(
      sorted, [&](double value) { return value < first - reach || value > third + reach; }));
}

std::optional<double> percentile(const std::vector<double>& sorted, double fraction) {
  if (sorted.size() < samples_for_quantile(fraction)) return std::nullopt;
  return quantile(sorted, fraction);
}

}  // namespace

SampleSummary describe(std::vector<double> values) {
  SampleSummary out;
  if (values.empty()) return out;
  std::ranges::sort(values);
  const Summary summary = summarize(values);
  out.count = summary.count;
  out.median = summary.median;
  out.median_interval = median_interval(values);
  out.mean = summary.mean;
  out.stddev = summary.stddev;
  out.min = summary.min;
  out.max = summary.max;
  out.p95 = percentile(values, 0.95);
  out.p99 = percentile(values, 0.99);
  out.outliers = count_outliers(values);
  return out;
}

std::string percentile_reason(std::size_t count, double quantile) {
  const std::size_t needed = samples_for_quantile(quantile);
  if (count >= needed) return {};
  return "needs " + std::to_string(needed) + " values, has " + std::to_string(count);
}

}  // namespace fathom

// Describes a sample.
#include "stats/sample.h"

#include <algorithm>

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
  out.p95 = summary.p95;
  out.p99 = summary.p99;
  out.outliers = count_outliers(values);
  return out;
}

}  // namespace fathom

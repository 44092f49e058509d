// Mean, spread and order statistics of a sample.
#include "stats/summary.h"

#include <algorithm>
#include <cmath>

#include "stats/median_interval.h"

namespace fathom {

double quantile(const std::vector<double>& sorted, double fraction) {
  if (sorted.empty()) return 0;
  const double position = static_cast<double>(sorted.size() - 1) * std::clamp(fraction, 0.0, 1.0);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 == sorted.size()) return sorted.back();
  const double part = position - static_cast<double>(below);
  // Between equal ones there is nothing, though both have no end.
  if (part == 0 || sorted[below] == sorted[below + 1]) return sorted[below];
  return sorted[below] + (sorted[below + 1] - sorted[below]) * part;
}

std::optional<double> percentile(const std::vector<double>& sorted, double fraction) {
  if (sorted.size() < samples_for_quantile(fraction)) return std::nullopt;
  return quantile(sorted, fraction);
}

std::string percentile_reason(std::size_t count, double fraction) {
  const std::size_t needed = samples_for_quantile(fraction);
  if (count >= needed) return {};
  return "needs " + std::to_string(needed) + " values, has " + std::to_string(count);
}

double RunningMoments::stddev() const {
  return count_ < 2 ? 0 : std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

Summary summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  RunningMoments moments;
  for (const double value : values) moments.add(value);
  return {.count = values.size(),
          .mean = moments.mean(),
          .stddev = moments.stddev(),
          .min = values.front(),
          .median = quantile(values, 0.5),
          .max = values.back(),
          .p95 = percentile(values, 0.95),
          .p99 = percentile(values, 0.99)};
}

}  // namespace fathom

// Computes the median log ratio of pairs and its order-statistic interval.
#include "stats/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/summary.h"

namespace fathom {

std::optional<PairedRatio> paired_ratio(std::span<const double> base, std::span<const double> now,
                                        double confidence) {
  if (base.size() != now.size()) return std::nullopt;
  std::vector<double> logs;
  logs.reserve(base.size());
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (!(base[i] > 0) || !(now[i] > 0)) return std::nullopt;
    logs.push_back(std::log(now[i] / base[i]));
  }
  std::ranges::sort(logs);
  const std::optional<Bounds> bounds = median_interval(logs, confidence);
  if (!bounds) return std::nullopt;
  return PairedRatio{.ratio = std::exp(quantile(logs, 0.5)),
                     .interval = {.low = std::exp(bounds->low), .high = std::exp(bounds->high)}};
}

}  // namespace fathom

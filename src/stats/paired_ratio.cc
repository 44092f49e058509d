// Computes the median log ratio of pairs and its order-statistic interval.
#include "stats/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/log_ratio.h"
#include "stats/summary.h"

namespace fathom {

std::optional<PairedRatio> paired_ratio(std::span<const double> base, std::span<const double> now,
                                        double confidence) {
  if (base.size() != now.size()) return std::nullopt;
  std::vector<double> logs;
  logs.reserve(base.size());
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const std::optional<double> each = log_ratio(base[i], now[i]);
    if (!each) return std::nullopt;
    if (std::isnan(*each)) {
      ++unknown;
    } else {
      logs.push_back(*each);
    }
  }
  std::ranges::sort(logs);
  const std::optional<RankPair> ranks = median_ranks(base.size(), confidence);
  // The unknown are below all others where the lower end is sought, and above where the upper is.
  if (!ranks || ranks->low < unknown || ranks->high >= logs.size()) return std::nullopt;
  const Bounds bounds{.low = logs[ranks->low - unknown], .high = logs[ranks->high]};
  if (!std::isfinite(bounds.low) || !std::isfinite(bounds.high)) return std::nullopt;
  return PairedRatio{.ratio = std::exp(quantile(logs, 0.5)),
                     .interval = {.low = std::exp(bounds.low), .high = std::exp(bounds.high)}};
}

}  // namespace fathom

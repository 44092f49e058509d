// Divides medians, and their intervals.
#include "stats/median_ratio.h"

#include <algorithm>

#include "stats/summary.h"

namespace fathom {
namespace {

/// Of each of the two sides.
constexpr double kConfidence = 0.975;

}  // namespace

std::optional<MedianRatio> median_ratio(std::vector<double> base, std::vector<double> now) {
  if (base.empty() || now.empty()) return std::nullopt;
  std::ranges::sort(base);
  std::ranges::sort(now);
  const double middle = quantile(base, 0.5);
  if (!(base.front() >= 0) || !(now.front() >= 0) || !(middle > 0)) return std::nullopt;
  MedianRatio out{.ratio = quantile(now, 0.5) / middle, .interval = {}};
  const std::optional<Bounds> of_base = median_interval(base, kConfidence);
  const std::optional<Bounds> of_now = median_interval(now, kConfidence);
  if (of_base && of_now && of_base->low > 0)
    out.interval = Bounds{.low = of_now->low / of_base->high, .high = of_now->high / of_base->low};
  return out;
}

std::size_t fewest_for_median_ratio() {
  std::size_t count = 1;
  while (!median_ranks(count, kConfidence)) ++count;
  return count;
}

}  // namespace fathom

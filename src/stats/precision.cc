// Estimates the width of an interval from absolute values.
#include "stats/precision.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/median_interval.h"
#include "stats/summary.h"

namespace fathom {
namespace {

/// Of a normal distribution that is folded at its middle, the median by what lies between median
/// and upper quartile: 0.6745 / (1.1503 - 0.6745).
constexpr double kFolded = 1.418;
/// 1.96 standard errors of a median, by how far the middle half of the values reaches to each side.
constexpr double kErrors = 1.96 * 2;
constexpr double kFewestPairs = 6;
constexpr double kMostPairs = 1e9;

}  // namespace

std::optional<double> blind_half_width(std::span<const double> base, std::span<const double> now) {
  if (base.size() != now.size()) return std::nullopt;
  std::vector<double> sizes;
  sizes.reserve(base.size());
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (!(base[i] > 0) || !(now[i] > 0)) return std::nullopt;
    sizes.push_back(std::abs(std::log(now[i] / base[i])));
  }
  const std::size_t n = sizes.size();
  if (!median_ranks(n, 0.95)) return std::nullopt;
  std::ranges::sort(sizes);
  const double middle = quantile(sizes, 0.5);
  // Far from 0 nothing was folded.
  const double folded = quantile(sizes, 0.1) > middle / 2 ? 1 : kFolded;
  const double reach = std::min(middle, folded * (quantile(sizes, 0.75) - middle));
  return kErrors * reach / std::sqrt(static_cast<double>(n));
}

double half_width_for(double resolution) { return resolution / 2; }

std::size_t pairs_for(double wanted, double half_width, std::size_t pairs) {
  const double factor = half_width / wanted;
  const double needed = static_cast<double>(pairs) * factor * factor;
  return static_cast<std::size_t>(std::clamp(std::ceil(needed), kFewestPairs, kMostPairs));
}

}  // namespace fathom

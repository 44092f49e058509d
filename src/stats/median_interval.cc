// Finds the order statistics around a median from the tail of the binomial distribution.
#include "stats/median_interval.h"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// Of n tosses of a coin, the natural logarithm of the probability of k heads.
double log_probability(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0);
}

}  // namespace

std::optional<RankPair> median_ranks(std::size_t n, double confidence) {
  if (n == 0) return std::nullopt;
  const double tail = (1 - confidence) / 2;
  const auto count = static_cast<double>(n);
  // Thirty standard deviations (√n / 2 each) below the middle nothing is left of the tail.
  const double start = std::max(0.0, std::floor(count / 2 - 15 * std::sqrt(count)));
  double sum = 0;
  auto heads = static_cast<std::size_t>(start);
  for (; 2 * heads < n; ++heads) {
    sum += std::exp(log_probability(count, static_cast<double>(heads)));
    if (sum > tail) break;
  }
  // So many of the smallest and of the largest values lie outside.
  if (heads == 0) return std::nullopt;
  return RankPair{.low = heads - 1, .high = n - heads};
}

std::optional<Bounds> median_interval(std::span<const double> sorted, double confidence) {
  const std::optional<RankPair> ranks = median_ranks(sorted.size(), confidence);
  if (!ranks) return std::nullopt;
  return Bounds{.low = sorted[ranks->low], .high = sorted[ranks->high]};
}

std::size_t samples_for_quantile(double quantile, double confidence) {
  return static_cast<std::size_t>(std::ceil(std::log(1 - confidence) / std::log(quantile)));
}

}  // namespace fathom

// Rounds fractions so that they keep their sum.
#include "compare/shares.h"

#include <algorithm>
#include <numeric>

namespace fathom {
namespace {

/// Rounded towards minus infinity.
Wide floor_of(Wide numerator, Wide denominator) {
  const Wide quotient = numerator / denominator;
  return numerator % denominator < 0 ? quotient - 1 : quotient;
}

}  // namespace

std::int64_t StepFractions::rounded(Wide numerator) const {
  const bool negative = numerator < 0;
  const Wide size = negative ? -numerator : numerator;
  const Wide nearest = (2 * size + denominator()) / (2 * denominator());
  return static_cast<std::int64_t>(negative ? -nearest : nearest);
}

std::vector<std::int64_t> by_largest_remainder(std::span<const Wide> numerators, Wide denominator,
                                               std::int64_t total) {
  std::vector<std::int64_t> out;
  std::vector<Wide> remainders;
  std::int64_t left = total;
  for (const Wide numerator : numerators) {
    const Wide floor = floor_of(numerator, denominator);
    out.push_back(static_cast<std::int64_t>(floor));
    remainders.push_back(numerator - floor * denominator);
    left -= out.back();
  }
  std::vector<std::size_t> order(numerators.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (const std::size_t at : order) {
    if (left <= 0) break;
    ++out[at];
    --left;
  }
  return out;
}

}  // namespace fathom

// Do two samples differ in location? The rank-sum test of Mann and Whitney.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace fathom {

/// The two-sided p value. Exact where neither side has more than 20 values and none is equal to
/// another; else by the normal approximation with the correction for ties. The values must be
/// independent of one another. Unset where a side is empty. Source: Mann and Whitney, "On a test
/// of whether one of two random variables is stochastically larger than the other", Annals of
/// Mathematical Statistics 18 (1947), 50-60. O((n + m) log(n + m)), exact O(n²m²).
std::optional<double> rank_sum_p(std::span<const double> a, std::span<const double> b);

/// The p value of samples of these sizes that lie fully apart: what few values can show at most.
double smallest_rank_sum_p(std::size_t n, std::size_t m);

}  // namespace fathom

// Which of many tests may be believed together.
#pragma once

#include <span>
#include <vector>

namespace fathom {

/// For each p value, whether it is rejected so that of all that are rejected at most `rate` are
/// expected to be wrong. Source: Benjamini and Hochberg, "Controlling the false discovery rate",
/// Journal of the Royal Statistical Society B 57 (1995), 289-300. O(n log n).
std::vector<bool> reject_with_false_discovery_rate(std::span<const double> p_values, double rate);

}  // namespace fathom

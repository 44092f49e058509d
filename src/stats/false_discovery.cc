// The step-up procedure of Benjamini and Hochberg.
#include "stats/false_discovery.h"

#include <algorithm>
#include <cstddef>

namespace fathom {

std::vector<bool> reject_with_false_discovery_rate(std::span<const double> p_values, double rate) {
  std::vector<double> sorted(p_values.begin(), p_values.end());
  std::ranges::sort(sorted);
  double limit = -1;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double allowed = rate * static_cast<double>(i + 1) / static_cast<double>(sorted.size());
    if (sorted[i] <= allowed) limit = sorted[i];
  }
  std::vector<bool> rejected;
  rejected.reserve(p_values.size());
  for (const double p : p_values) rejected.push_back(p <= limit);
  return rejected;
}

}  // namespace fathom

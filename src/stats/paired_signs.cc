// The tail of the binomial distribution at one half.
#include "stats/paired_signs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fathom {

std::optional<double> sign_test_p(std::span<const double> base, std::span<const double> now) {
  if (base.size() != now.size() || base.empty()) return std::nullopt;
  std::size_t less = 0;
  std::size_t more = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    less += now[i] < base[i] ? 1 : 0;
    more += now[i] > base[i] ? 1 : 0;
  }
  const auto n = static_cast<double>(less + more);
  const std::size_t fewer = std::min(less, more);
  double tail = 0;
  for (std::size_t i = 0; i <= fewer; ++i) {
    const auto k = static_cast<double>(i);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                     n * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

}  // namespace fathom

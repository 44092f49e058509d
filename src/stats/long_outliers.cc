// Tukey's upper fence, for lengths.
#include "stats/long_outliers.h"

#include <algorithm>
#include <cstddef>

#include "stats/summary.h"

namespace fathom {
namespace {

constexpr std::size_t kFewest = 4;
constexpr double kRanges = 1.5;
constexpr double kMedians = 1.5;

}  // namespace

std::optional<double> fence_of_long(const std::vector<double>& sorted) {
  if (sorted.size() < kFewest) return {};
  const double third = quantile(sorted, 0.75);
  return std::max(third + kRanges * (third - quantile(sorted, 0.25)),
                  kMedians * quantile(sorted, 0.5));
}

}  // namespace fathom

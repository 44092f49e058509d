// From which length on one of many is far longer than the others.
#pragma once

#include <optional>
#include <vector>

namespace fathom {

/// Values above it are far larger than the others: the third quartile plus 1.5 times the
/// interquartile range, and at least 1.5 times the median, for values that hardly differ have no
/// outliers. Unset for fewer than four values. `sorted` ascending. Sources: Tukey, "Exploratory
/// Data Analysis" (1977), for the fence; nsys-ai asks for both conditions of layers. O(1).
std::optional<double> fence_of_long(const std::vector<double>& sorted);

}  // namespace fathom

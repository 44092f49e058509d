// Do the sides of pairs differ? The sign test.
#pragma once

#include <optional>
#include <span>

namespace fathom {

/// The two-sided p value of the sign test: how likely so uneven a number of pairs with the larger
/// value on one side is, where the order within each pair was drawn at random and nothing differs.
/// Equal pairs say nothing and are left out; 1 where all are equal. Unset for sides of unequal
/// length and without a pair. Source: Dixon and Mood, "The statistical sign test", Journal of the
/// American Statistical Association 41 (1946), 557-566. O(n).
std::optional<double> sign_test_p(std::span<const double> base, std::span<const double> now);

}  // namespace fathom

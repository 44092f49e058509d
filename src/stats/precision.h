// How precise pairs are so far, told without looking at which side was slower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fathom {

/// About half the width of the interval that paired_ratio() will give, as a log ratio (0.01: 1 %),
/// from the absolute values of the log ratios alone. Where the order within pairs is drawn at
/// random, the signs of the log ratios are fair coins whatever their absolute values are, if
/// nothing differs; so whoever stops by this number leaves the sign test exact (Fisher, "The Design
/// of Experiments", 1935, chapter 3). Whoever stops when the interval leaves out 0 does not.
///
/// It is 1.96 standard errors of a median, 1 / (2·f·√n) each (Kenney and Keeping, "Mathematics of
/// Statistics", 1951), where the density f around it is that of the middle half of the values. How
/// far these reach is the smaller of two: the median of the absolute values, as if there were no
/// difference, and the way from there to their upper quartile, as if one side were always slower.
/// Unset below 6 pairs, for sides of unequal length, where a value is negative, and where half of
/// the pairs have a 0. O(n log n).
std::optional<double> blind_half_width(std::span<const double> base, std::span<const double> now);

/// Which of the two counts for how far the middle half reaches. The larger one is for what is
/// announced: of few values the smaller is low more often than high, and with heavy tails too low.
enum class Reach : std::uint8_t { smaller, larger };

/// The same where it is known which of each pair was measured first. `first` and `second` are in
/// the order of time, whichever side they were of: while the order is drawn at random and nothing
/// differs, the side is independent of them, so that stopping by this number leaves the sign test
/// exact, too. Where signs in the order of time are no fair coins by the sign test (one direction
/// in the half of the pairs that is furthest apart, or each like or unlike the one before), it is
/// the place in time that makes the difference and not the side. By side such pairs lie on both
/// sides of 0, and nothing is narrow about them: the middle half then reaches at least as far as
/// the median of the absolute values, and as their upper quartile tells, and the interval at least
/// as far as with such signs: without end where so many pairs have a 0. Patterns over more than two
/// pairs are not seen.
std::optional<double> blind_half_width_in_order(std::span<const double> first,
                                                std::span<const double> second,
                                                Reach reach = Reach::smaller);

/// The half width at which a difference of `resolution` is decided: half of it. An interval around
/// a true difference as large then leaves 0 out, and one around 0 lies within ±resolution, but for
/// few.
double half_width_for(double resolution);

/// So many pairs give the wanted half width, where `pairs` gave `half_width`: it falls as 1/√n.
/// At least 6, at most 10^9.
std::size_t pairs_for(double wanted, double half_width, std::size_t pairs);

}  // namespace fathom

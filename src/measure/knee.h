// Which of several values is the smallest that is as good as the best?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stats/paired_ratio.h"

namespace fathom::measure {

/// How a value stands among the others.
enum class Standing : std::uint8_t {
  best,
  within,  ///< Certainly not worse than the best by more than the resolution.
  worse,   ///< Certainly worse by more, judged together with all pairs of values.
  cannot_tell,
};
std::string_view to_string(Standing standing);

struct KneeRow {
  std::optional<Standing> standing;  ///< Unset where nothing was measured.
  std::optional<PairedRatio> cost;   ///< By that of the best: 1.02 is 2 % worse.
};

struct Knee {
  std::vector<KneeRow> rows;         ///< By place.
  std::optional<std::size_t> best;   ///< Of the median.
  std::optional<std::size_t> knee;   ///< The smallest value that is best or within.
  std::vector<std::size_t> perhaps;  ///< Smaller ones for which that is unknown.
};

/// `costs` are those of each value by round, of which each had all values in random order (less is
/// better; none where nothing was measured); `ascending` its places from the smallest value on. The
/// best is chosen by the same data, which makes others look worse: any value could have been the
/// best. So a value is worse only where, beside its interval, the sign test of its pair with the
/// best holds at a false discovery rate of 5 % over all pairs of values. There is no knee where the
/// best has too few costs for an interval. Source: Williams, Jones and Tukey, "Controlling error in
/// multiple comparisons", Journal of Educational and Behavioral Statistics 24 (1999), 42-69, for
/// the rate over all pairs. O(k² n log n) for k values.
Knee find_knee(std::span<const std::vector<double>> costs, std::span<const std::size_t> ascending,
               double resolution);

/// Sets the knee, and what may be smaller, by the standings as they are: again after one of them
/// was withheld.
void settle_knee(Knee& found, std::span<const std::size_t> ascending);
/// Of one that is not the best, by the interval of its cost by that of the best.
Standing standing_of(const Bounds& cost, double resolution);

/// Places from the smallest number on; equal ones in their order.
std::vector<std::size_t> ascending_places(std::span<const double> numbers);

}  // namespace fathom::measure

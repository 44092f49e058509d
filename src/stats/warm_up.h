// When does repeated work become steady? Changepoints of its times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace fathom {

/// Where segments of one mean and one variance begin, the first (0) left out: those that minimise
/// the sum of -2·log-likelihood (normal distribution) and of `penalty` for each. `values` must be
/// finite. Source: Killick, Fearnhead and Eckley, "Optimal detection of changepoints with a linear
/// computational cost" (PELT), Journal of the American Statistical Association 107 (2012),
/// 1590-1598. O(n) where changes come often, O(n²) where there are none.
std::vector<std::size_t> changepoints(std::span<const double> values, double penalty);

enum class Steadiness : std::uint8_t {
  flat,          ///< One level from the beginning.
  warm,          ///< Slower at first, then one level.
  slowed,        ///< Faster at first, then one level.
  never_steady,  ///< Levels still changed in the last quarter.
};
std::string_view to_string(Steadiness kind);

struct WarmUp {
  Steadiness kind = Steadiness::flat;
  std::size_t after = 0;  ///< So many values come before the level that lasts.
};

/// Of times in their order, by changepoints of their logarithms with the penalty 15·log n. Levels
/// are equal where their means differ by at most the standard deviation of the last one, or by 1 %.
/// Unset below 20 values and where one is not positive. Source of penalty and classes: Barrett,
/// Bolz-Tereick, Killick, Mount and Tratt, "Virtual machine warmup blows hot and cold", OOPSLA
/// 2017.
std::optional<WarmUp> find_warm_up(std::span<const double> times);

/// The same in a time that many values do not make long: of more than `most`, means of neighbours
/// are looked at, so that `after` is only known to one of these.
std::optional<WarmUp> find_warm_up_of_many(std::span<const double> times, std::size_t most = 2000);

/// Correlation of each value with the next: 0 for independent ones. 0 below three values and where
/// all are equal. Source: Box and Jenkins, "Time Series Analysis" (1970), chapter 2.
double autocorrelation(std::span<const double> values);

}  // namespace fathom

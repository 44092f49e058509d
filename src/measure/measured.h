// What was measured of two sides, or of one: a row a metric, of commands and of functions alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/claim.h"
#include "stats/sample.h"
#include "stats/warm_up.h"

namespace fathom::measure {

enum class Unit : std::uint8_t { ns, bytes, joules, per_second, percent, money };
/// "ns", "bytes", "joules", "1/s", "percent", "money".
std::string_view to_string(Unit unit);
/// Is it about speed? Else it is about what something takes.
inline bool is_speed(Unit unit) {
  return unit == Unit::ns || unit == Unit::per_second || unit == Unit::percent;
}

/// One side of one metric.
struct MeasuredSide {
  /// Where the values were never steady there is no one level: then it has no interval of the
  /// median and no percentiles, which would be about one.
  SampleSummary summary;
  /// Over the values of this side in their order; of more than 2000, over the means of as many
  /// neighbours as leave 2000.
  std::optional<WarmUp> warm_up;
  std::optional<double> steady_median;  ///< Of the level that lasts, where another came before.
  double autocorrelation = 0;           ///< Of one value with the next of its side.
  [[nodiscard]] bool never_steady() const {
    return warm_up && warm_up->kind == Steadiness::never_steady;
  }
};
MeasuredSide measured_side(const std::vector<double>& values);

struct MeasuredMetric {
  std::string id;     ///< "wall", as in JSON.
  std::string title;  ///< "wall time".
  /// What it is: "from the call until its first item". Empty where the title says it all.
  std::string definition;
  Unit unit = Unit::ns;
  bool more_is_better = false;
  std::optional<MeasuredSide> base;  ///< Unset where there is one side.
  MeasuredSide now;
  Claim claim;  ///< Of new against base. "Faster" is less time, and more a second.
  /// GPUs ran at other clocks, and cycles do not say the same: the claim that would have been is
  /// withheld (clock_rule.h).
  bool clocks_differ = false;
};

/// claim_of(), where "faster" is more of what is better so.
Claim claim_about(bool more_is_better, std::span<const double> base, std::span<const double> now,
                  double resolution);

/// What costs: times as they are, of what is better when more its reciprocal (of 0 infinite).
std::vector<double> costs_of(std::vector<double> values, bool more_is_better);

}  // namespace fathom::measure

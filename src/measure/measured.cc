// Describes a side, and judges two.
#include "measure/measured.h"

#include <array>
#include <cstddef>
#include <limits>

namespace fathom::measure {
std::string_view to_string(Unit unit) {
  static constexpr std::array<std::string_view, 6> kNames = {"ns",  "bytes",   "joules",
                                                             "1/s", "percent", "money"};
  return kNames[static_cast<std::size_t>(unit)];
}

MeasuredSide measured_side(const std::vector<double>& values) {
  MeasuredSide side{.summary = describe(values),
                    .warm_up = find_warm_up_of_many(values),
                    .steady_median = {},
                    .autocorrelation = autocorrelation(values)};
  if (side.never_steady()) {
    side.summary.median_interval.reset();
    side.summary.p95.reset();
    side.summary.p99.reset();
  } else if (side.warm_up && side.warm_up->after > 0 && side.warm_up->after < values.size()) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(side.warm_up->after);
    side.steady_median = describe(std::vector<double>(begin, values.end())).median;
  }
  return side;
}

Claim claim_about(bool more_is_better, std::span<const double> base, std::span<const double> now,
                  double resolution) {
  Claim claim = claim_of(base, now, resolution);
  if (!more_is_better) return claim;
  if (claim.verdict == Verdict::faster) {
    claim.verdict = Verdict::slower;
  } else if (claim.verdict == Verdict::slower) {
    claim.verdict = Verdict::faster;
  }
  return claim;
}

std::vector<double> costs_of(std::vector<double> values, bool more_is_better) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  if (more_is_better) {
    for (double& value : values) value = value > 0 ? 1 / value : kEndless;
  }
  return values;
}

}  // namespace fathom::measure

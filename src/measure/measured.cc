// Describes a side, and judges two.
#include "measure/measured.h"

#include <array>
#include <cstddef>
#include <numeric>

namespace fathom::measure {
namespace {

/// PELT takes a time that grows with the square where nothing changes.
constexpr std::size_t kMostForWarmUp = 2000;

/// Means of `group` neighbours each.
std::vector<double> thinned(const std::vector<double>& values, std::size_t group) {
  std::vector<double> means;
  for (std::size_t at = 0; at + group <= values.size(); at += group) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(at);
    means.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(group), 0.0) /
                    static_cast<double>(group));
  }
  return means;
}

std::optional<WarmUp> warm_up_of(const std::vector<double>& values) {
  const std::size_t group = (values.size() + kMostForWarmUp - 1) / kMostForWarmUp;
  if (group <= 1) return find_warm_up(values);
  std::optional<WarmUp> found = find_warm_up(thinned(values, group));
  if (found) found->after *= group;
  return found;
}

}  // namespace

std::string_view to_string(Unit unit) {
  static constexpr std::array<std::string_view, 6> kNames = {"ns",  "bytes",   "joules",
                                                             "1/s", "percent", "money"};
  return kNames[static_cast<std::size_t>(unit)];
}

MeasuredSide measured_side(const std::vector<double>& values) {
  MeasuredSide side{.summary = describe(values),
                    .warm_up = warm_up_of(values),
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
  if (more_is_better) {
    for (double& value : values) value = value > 0 ? 1 / value : 0;
  }
  return values;
}

}  // namespace fathom::measure

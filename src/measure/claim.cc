// Judges the interval of a ratio.
#include "measure/claim.h"

#include <array>
#include <charconv>
#include <cmath>

#include "stats/false_discovery.h"
#include "stats/paired_signs.h"
#include "stats/precision.h"

namespace fathom::measure {
namespace {

constexpr std::size_t kFewestPairs = 6;
constexpr double kFalseDiscoveries = 0.05;

std::string why_no_ratio(std::size_t pairs) {
  if (pairs >= kFewestPairs) return "too many values are 0, which has no ratio";
  return std::to_string(pairs) + (pairs == 1 ? " pair" : " pairs") +
         ": below 6 nothing can be claimed at 5 %";
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  static constexpr std::array<std::string_view, 4> kNames = {"faster", "slower", "same",
                                                             "cannot_tell"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string within_text(double resolution) {
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), 100 * resolution,
                                 std::chars_format::general, 4)
                       .ptr;
  return "±" + std::string(digits.data(), end) + " %";
}

Claim claim_of(std::span<const double> base, std::span<const double> now, double resolution) {
  Claim claim;
  claim.ratio = paired_ratio(base, now);
  claim.p = sign_test_p(base, now);
  if (!claim.ratio) {
    claim.reason = why_no_ratio(base.size());
    return claim;
  }
  const Bounds& interval = claim.ratio->interval;
  if (interval.low >= 1 - resolution && interval.high <= 1 + resolution) {
    claim.verdict = Verdict::same;
  } else if (claim.ratio->differs()) {
    claim.verdict = interval.low > 1 ? Verdict::slower : Verdict::faster;
  } else {
    claim.reason = "the interval holds 0 and goes beyond " + within_text(resolution);
  }
  return claim;
}

std::string wider_note(const Sampled& sampled, const Claim& claim, double resolution) {
  constexpr double kWider = 1.25;
  if (sampled.stopped != Stopped::precise || !claim.ratio) return {};
  const Bounds& interval = claim.ratio->interval;
  const double half_width = std::log(interval.high / interval.low) / 2;
  if (half_width <= kWider * half_width_for(resolution)) return {};
  return "The interval reaches " + within_text(half_width) + ", further than the " +
         within_text(half_width_for(resolution)) +
         " at which sampling stops by its estimate; a number of runs takes more pairs.";
}

void judge_together(std::vector<Claim>& claims) {
  std::vector<double> p_values;
  p_values.reserve(claims.size());
  for (const Claim& claim : claims) p_values.push_back(claim.p.value_or(1));
  const std::vector<bool> rejected = reject_with_false_discovery_rate(p_values, kFalseDiscoveries);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    Claim& claim = claims[i];
    const bool claims_more = claim.verdict == Verdict::faster || claim.verdict == Verdict::slower;
    if (!claims_more || rejected[i]) continue;
    claim.verdict = Verdict::cannot_tell;
    claim.reason = "of " + std::to_string(claims.size()) +
                   " rows one may look so by chance (false discovery rate of 5 %)";
  }
}

}  // namespace fathom::measure

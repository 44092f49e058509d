// Compares clocks and the reasons why they were not higher.
#include "measure/clock_rule.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/quantity_text.h"
#include "stats/summary.h"

namespace fathom::measure {
namespace {

constexpr double kClockTolerance = 0.01;
constexpr double kShareTolerance = 0.05;

/// nvml.h, nvmlClocksEventReason…, from bit 0.
struct Reason {
  std::string_view name;
  bool counts = true;
  bool slowdown = false;
};
constexpr std::array kReasons = {
    Reason{"idle", false},  // between two samples
    Reason{"clocks set by the user"},
    Reason{"software power cap"},
    Reason{"hardware slowdown", true, true},
    Reason{"sync boost"},
    Reason{"software thermal slowdown", true, true},
    Reason{"hardware thermal slowdown", true, true},
    Reason{"hardware power brake", true, true},
    Reason{"clocks set for the display"},
};

double share_of(const ClockSummary& side, std::string_view reason) {
  const auto found = std::ranges::find(side.reasons, reason, &ReasonShare::reason);
  return found == side.reasons.end() ? 0 : found->share;
}

std::string percent(double share) { return percent_text(100 * share); }

std::string slowdown_of(const ClockSummary& side, std::string_view name) {
  for (const ReasonShare& each : side.reasons) {
    if (each.slowdown)
      return std::string(each.reason) + " in " + percent(each.share) + " of the samples of " +
             std::string(name);
  }
  return {};
}

std::string unequal_reason(const ClockSummary& base, const ClockSummary& now) {
  for (const Reason& reason : kReasons) {
    const double of_base = share_of(base, reason.name);
    const double of_now = share_of(now, reason.name);
    if (std::abs(of_base - of_now) > kShareTolerance)
      return std::string(reason.name) + " in " + percent(of_base) +
             " of the samples of the base, " + percent(of_now) + " of the new";
  }
  return {};
}

std::vector<double> cycles(std::span<const double> times, std::span<const ClockReading> clocks) {
  std::vector<double> products;
  if (times.size() != clocks.size()) return products;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!clocks[i].sm_mhz) return {};
    products.push_back(times[i] * *clocks[i].sm_mhz);
  }
  return products;
}

}  // namespace

ClockSummary describe_clocks(std::span<const ClockReading> readings) {
  ClockSummary side;
  std::vector<double> clocks;
  std::array<std::size_t, kReasons.size()> counts{};
  std::size_t with_reasons = 0;
  for (const ClockReading& reading : readings) {
    side.readings += reading.sm_mhz || reading.reasons ? 1 : 0;
    if (reading.sm_mhz) clocks.push_back(*reading.sm_mhz);
    if (!reading.reasons) continue;
    ++with_reasons;
    for (std::size_t bit = 0; bit < kReasons.size(); ++bit)
      counts[bit] += *reading.reasons >> bit & 1U;
  }
  if (!clocks.empty()) {
    std::ranges::sort(clocks);
    side.median_mhz = quantile(clocks, 0.5);
  }
  for (std::size_t bit = 0; bit < kReasons.size(); ++bit) {
    if (counts[bit] == 0 || !kReasons[bit].counts) continue;
    side.reasons.push_back(
        {.reason = kReasons[bit].name,
         .share = static_cast<double>(counts[bit]) / static_cast<double>(with_reasons),
         .slowdown = kReasons[bit].slowdown});
  }
  return side;
}

std::string clocks_differ(const ClockSummary& base, const ClockSummary& now) {
  if (base.median_mhz && now.median_mhz &&
      std::abs(*now.median_mhz - *base.median_mhz) > kClockTolerance * *base.median_mhz) {
    return "the base ran at " + real_text(*base.median_mhz) + " MHz, the new at " +
           real_text(*now.median_mhz) + " MHz (medians)";
  }
  for (std::string text : {slowdown_of(base, "the base"), slowdown_of(now, "the new")}) {
    if (!text.empty()) return text;
  }
  return unequal_reason(base, now);
}

Claim hold_against_clocks(Claim claim, std::span<const double> base, std::span<const double> now,
                          std::span<const ClockReading> base_clocks,
                          std::span<const ClockReading> now_clocks, double resolution) {
  const std::string why = clocks_differ(describe_clocks(base_clocks), describe_clocks(now_clocks));
  if (why.empty() || claim.verdict == Verdict::cannot_tell) return claim;
  const std::vector<double> base_cycles = cycles(base, base_clocks);
  const std::vector<double> now_cycles = cycles(now, now_clocks);
  if (claim_of(base_cycles, now_cycles, resolution).verdict == claim.verdict) return claim;
  claim.verdict = Verdict::cannot_tell;
  claim.reason = "clocks differ: " + why;
  return claim;
}

}  // namespace fathom::measure

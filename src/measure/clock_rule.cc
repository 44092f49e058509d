// Compares clocks and the reasons why they were not higher.
#include "measure/clock_rule.h"

#include <algorithm>
#include <cmath>

#include "base/quantity_text.h"
#include "stats/summary.h"

namespace fathom::measure {
namespace {

constexpr double kClockTolerance = 0.01;
constexpr double kShareTolerance = 0.05;
constexpr double kRounding = 1e-9;

struct Reason {
  std::string_view id;
  std::string_view name;
  bool counts = true;
  bool slowdown = false;
};
constexpr std::array<Reason, kClockReasons> kReasons = {
    Reason{"idle", "idle", false},  // between two samples
    Reason{"clock_setting", "clocks set by the user"},
    Reason{"power_cap", "software power cap"},
    Reason{"hw_slowdown", "hardware slowdown", true, true},
    Reason{"sync_boost", "sync boost"},
    Reason{"sw_thermal", "software thermal slowdown", true, true},
    Reason{"hw_thermal", "hardware thermal slowdown", true, true},
    Reason{"power_brake", "hardware power brake", true, true},
    Reason{"display", "clocks set for the display"},
};

double share_of(const ClockSummary& side, std::string_view id) {
  const auto found = std::ranges::find(side.reasons, id, &ReasonShare::id);
  return found == side.reasons.end() ? 0 : found->share;
}

std::string percent(double share) { return percent_text(100 * share); }

std::string mhz(double clock) {
  return count_text(static_cast<std::int64_t>(std::llround(clock))) + " MHz";
}

std::string slowdown_of(const ClockSummary& side, std::string_view name) {
  for (const ReasonShare& each : side.reasons) {
    if (each.slowdown)
      return std::string(each.name) + " for " + percent(each.share) + " of the time of " +
             std::string(name);
  }
  return {};
}

std::string unequal_reason(const ClockSummary& base, const ClockSummary& now,
                           const ClockNames& names) {
  for (const Reason& reason : kReasons) {
    const double of_base = share_of(base, reason.id);
    const double of_now = share_of(now, reason.id);
    if (std::abs(of_base - of_now) > kShareTolerance + kRounding)
      return std::string(reason.name) + " for " + percent(of_base) + " of the time of " +
             std::string(names.base) + ", " + percent(of_now) + " of " + std::string(names.now);
  }
  return {};
}

}  // namespace

ClockShares shares_of(std::uint64_t reason_bits) {
  ClockShares shares{};
  for (std::size_t bit = 0; bit < kClockReasons; ++bit)
    shares[bit] = static_cast<double>(reason_bits >> bit & 1U);
  return shares;
}

std::optional<std::size_t> reason_bit(std::string_view id) {
  const auto* const found = std::ranges::find(kReasons, id, &Reason::id);
  if (found == kReasons.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kReasons.begin());
}

ClockSummary describe_clocks(std::span<const ClockReading> readings) {
  ClockSummary side;
  std::vector<double> clocks;
  ClockShares sums{};
  std::size_t with_reasons = 0;
  for (const ClockReading& reading : readings) {
    side.readings += reading.sm_mhz || reading.reasons ? 1 : 0;
    if (reading.sm_mhz) clocks.push_back(*reading.sm_mhz);
    if (!reading.reasons) continue;
    ++with_reasons;
    for (std::size_t bit = 0; bit < kClockReasons; ++bit) sums[bit] += (*reading.reasons)[bit];
  }
  if (!clocks.empty()) {
    std::ranges::sort(clocks);
    side.median_mhz = quantile(clocks, 0.5);
  }
  for (std::size_t bit = 0; bit < kClockReasons; ++bit) {
    const Reason& reason = kReasons[bit];
    if (!(sums[bit] > 0) || !reason.counts) continue;
    side.reasons.push_back({.id = reason.id,
                            .name = reason.name,
                            .share = sums[bit] / static_cast<double>(with_reasons),
                            .slowdown = reason.slowdown});
  }
  return side;
}

std::vector<double> cycles_of(const ClockedSide& side) {
  std::vector<double> products;
  if (side.values.size() != side.clocks.size()) return products;
  for (std::size_t i = 0; i < side.values.size(); ++i) {
    if (!side.clocks[i].sm_mhz) return {};
    products.push_back(side.values[i] * *side.clocks[i].sm_mhz);
  }
  return products;
}

std::string clocks_differ(const ClockSummary& base, const ClockSummary& now,
                          const ClockNames& names) {
  if (base.median_mhz && now.median_mhz &&
      std::abs(*now.median_mhz - *base.median_mhz) > kClockTolerance * *base.median_mhz) {
    return std::string(names.base) + " ran at " + mhz(*base.median_mhz) + ", " +
           std::string(names.now) + " at " + mhz(*now.median_mhz) + " (medians)";
  }
  for (std::string text : {slowdown_of(base, names.base), slowdown_of(now, names.now)}) {
    if (!text.empty()) return text;
  }
  return unequal_reason(base, now, names);
}

std::string clocks_forbid(const Claim& claim, const ClockedSide& base, const ClockedSide& now,
                          double resolution) {
  if (claim.verdict == Verdict::cannot_tell) return {};
  std::string why = clocks_differ(describe_clocks(base.clocks), describe_clocks(now.clocks));
  if (why.empty() || claim_of(cycles_of(base), cycles_of(now), resolution).verdict == claim.verdict)
    return {};
  return why;
}

}  // namespace fathom::measure

// Do the clocks of a GPU allow two sides to be compared?
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/claim.h"

namespace fathom::measure {

/// NVML's reasons why a clock is not higher (nvml.h, nvmlClocksEventReason…, from bit 0).
inline constexpr std::size_t kClockReasons = 9;
/// For which share of the time each held, 0…1, by bit.
using ClockShares = std::array<double, kClockReasons>;
/// The shares of one look: each 0 or 1.
ClockShares shares_of(std::uint64_t reason_bits);
/// The bit of "hw_thermal", as the counters gpu.throttle.… call it; unset for a name that none has.
std::optional<std::size_t> reason_bit(std::string_view id);

/// What NVML says of a GPU after a sample or, on average, during a run; unset where it says
/// nothing.
struct ClockReading {
  std::optional<double> sm_mhz;
  std::optional<ClockShares> reasons;
};

struct ReasonShare {
  std::string_view id;    ///< "power_cap".
  std::string_view name;  ///< "software power cap".
  double share = 0;       ///< The mean over the readings that know reasons, 0…1.
  bool slowdown = false;  ///< Too hot, or the hardware slowed it down.
};

/// The clocks of one side.
struct ClockSummary {
  std::size_t readings = 0;  ///< With a clock or reasons.
  std::optional<double> median_mhz;
  std::vector<ReasonShare> reasons;  ///< Those that were there, idleness left out.
};
ClockSummary describe_clocks(std::span<const ClockReading> readings);

/// What the sides are called in sentences.
struct ClockNames {
  std::string_view base = "the base";
  std::string_view now = "the new";
};

/// Why times of both sides cannot be compared: medians more than 1 % apart; a side that was slowed
/// down by heat or hardware, however seldom; a reason that held for more than 5 points more of one
/// side's time. Empty where nothing speaks against it, or nothing is known.
std::string clocks_differ(const ClockSummary& base, const ClockSummary& now,
                          const ClockNames& names = {});

/// One side: what was timed, and the clock of each; as many of both.
struct ClockedSide {
  std::span<const double> values;  ///< Times: less is better.
  std::span<const ClockReading> clocks;
};
/// Time by clock, value by value; empty where a clock is not known.
std::vector<double> cycles_of(const ClockedSide& side);
/// Why this claim about pairs cannot stay: clocks_differ(), unless the cycles of the pairs (time by
/// clock) give the same verdict. Empty where it stays, and where nothing was claimed.
std::string clocks_forbid(const Claim& claim, const ClockedSide& base, const ClockedSide& now,
                          double resolution);

}  // namespace fathom::measure

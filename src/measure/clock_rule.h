// Do the clocks of a GPU allow two sides to be compared?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/claim.h"

namespace fathom::measure {

/// What NVML says of a GPU after a sample; unset where it says nothing.
struct ClockReading {
  std::optional<double> sm_mhz;
  std::optional<std::uint64_t> reasons;  ///< Bits, nvmlClocksEventReasons.
};

struct ReasonShare {
  std::string_view reason;  ///< "software power cap".
  double share = 0;         ///< Of the readings that know reasons, 0…1.
  bool slowdown = false;    ///< Too hot, or the hardware slowed it down.
};

/// The clocks of one side.
struct ClockSummary {
  std::size_t readings = 0;  ///< With a clock or reasons.
  std::optional<double> median_mhz;
  std::vector<ReasonShare> reasons;  ///< Those that were there, idleness left out.
};
ClockSummary describe_clocks(std::span<const ClockReading> readings);

/// Why times of both sides cannot be compared: medians more than 1 % apart; a side that was slowed
/// down by heat or hardware; a reason that held more than 5 points more of one side's samples.
/// Empty where nothing speaks against it, or nothing is known.
std::string clocks_differ(const ClockSummary& base, const ClockSummary& now);

/// The claim, or, where clocks differ, what is left of it: it stays where the cycles of the pairs
/// (time by clock) give the same verdict, else nothing can be told. All four lists have a value for
/// each pair; without readings the claim stays.
Claim hold_against_clocks(Claim claim, std::span<const double> base, std::span<const double> now,
                          std::span<const ClockReading> base_clocks,
                          std::span<const ClockReading> now_clocks, double resolution);

}  // namespace fathom::measure

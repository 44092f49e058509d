// Energy: joules of the GPUs and the processors over stretches of time, from what telemetry
// sampled.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/machine/telemetry.h"

namespace fathom {

/// Something whose energy is known.
struct EnergyConsumer {
  std::string name;          ///< "GPU 0", "CPU package-0", "memory package-0".
  std::int32_t device = -1;  ///< Of a GPU, as NVML numbers it.
  bool counted = false;      ///< By a counter of energy; otherwise from power.
  const CounterLine* line = nullptr;

  /// True where all of that time is known.
  [[nodiscard]] bool covers(const Interval& window) const {
    const Interval span = line->span();
    return span.begin <= window.begin && window.end <= span.end;
  }
};

/// The consumers that do not contain each other. A GPU's counter of energy is preferred to its
/// power. The telemetry must outlive them.
std::vector<EnergyConsumer> energy_consumers(const Telemetry& telemetry);

struct Energy {
  double joules = 0;
  Duration known{};  ///< The time of which it is known.
  /// Mean power over that time.
  [[nodiscard]] double watts() const {
    return known > Duration{} ? joules / (1e-9 * static_cast<double>(to_ns(known))) : 0;
  }
};

/// Over stretches that do not overlap: the counter's rise, or the integral of power by trapezoids.
/// Unset where nothing of them is known.
std::optional<Energy> energy_of(const EnergyConsumer& consumer,
                                std::span<const Interval> stretches);

/// What the energy costs. `per_kwh` in any money; grams of CO2.
constexpr double kJoulesPerKwh = 3.6e6;
inline double price_of(double joules, double per_kwh) { return joules / kJoulesPerKwh * per_kwh; }

/// What a kilowatt-hour costs, in money or in grams of CO2: as asked (from 0 on), else as the run
/// was recorded with (`fact`: "options.price_per_kwh", "options.carbon_g_per_kwh"); unset: neither.
std::optional<double> rate_per_kwh(const Trace& trace, double asked, std::string_view fact);
inline constexpr std::string_view kPriceFact = "options.price_per_kwh";
inline constexpr std::string_view kCarbonFact = "options.carbon_g_per_kwh";

}  // namespace fathom

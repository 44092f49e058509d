// Integrates counters of energy, or samples of power, over stretches of time.
#include "analysis/machine/energy.h"

#include <charconv>
#include <utility>

namespace fathom {
namespace {

constexpr std::string_view kZone = "energy.";

/// Zones of RAPL beside each other: packages, and the memory that hangs on them. A package contains
/// its "core" and "uncore", and "psys" contains all.
std::optional<std::string> name_of_zone(std::string_view zone) {
  const std::size_t dot = zone.find('.');
  const std::string_view package = zone.substr(0, dot);
  if (!package.starts_with("package-")) return {};
  if (dot == std::string_view::npos) return "CPU " + std::string(package);
  if (zone.substr(dot + 1) == "dram") return "memory " + std::string(package);
  return {};
}

}  // namespace

std::vector<EnergyConsumer> energy_consumers(const Telemetry& telemetry) {
  std::vector<EnergyConsumer> consumers;
  for (const CounterLine& line : telemetry.lines()) {
    const bool counter = line.name == "gpu.energy";
    if (counter || line.name == "gpu.power") {
      // A counter that was sampled once says nothing.
      const CounterLine* const other = telemetry.find("gpu.energy", line.device);
      if (!counter && other != nullptr && other->times.size() > 1) continue;
      if (counter && line.times.size() < 2) continue;
      consumers.push_back({.name = "GPU " + std::to_string(line.device),
                           .device = line.device,
                           .counted = counter,
                           .line = &line});
    } else if (line.name.starts_with(kZone)) {
      std::optional<std::string> name = name_of_zone(line.name.substr(kZone.size()));
      if (!name) continue;
      consumers.push_back({.name = std::move(*name), .device = -1, .counted = true, .line = &line});
    }
  }
  return consumers;
}

std::optional<Energy> energy_of(const EnergyConsumer& consumer,
                                std::span<const Interval> stretches) {
  if (consumer.counted) {
    const std::optional<double> joules = rise(*consumer.line, stretches);
    if (!joules) return {};
    return Energy{.joules = *joules, .known = known(*consumer.line, stretches)};
  }
  const std::optional<LevelSummary> power = level(*consumer.line, stretches);
  if (!power || power->known <= Duration{}) return {};
  const double seconds = 1e-9 * static_cast<double>(to_ns(power->known));
  return Energy{.joules = power->mean * seconds, .known = power->known};
}

std::optional<double> rate_per_kwh(const Trace& trace, double asked, std::string_view fact) {
  if (asked >= 0) return asked;
  const Fact* const recorded = trace.fact(fact);
  if (recorded == nullptr) return {};
  double value = 0;
  const std::string_view text = recorded->value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value >= 0 ? std::optional(value) : std::nullopt;
}

}  // namespace fathom

// Computes what a launch wastes: what Nsight Compute's rule LaunchConfiguration looks at.
#include "analysis/devices/launch_waste.h"

#include <cmath>

namespace fathom {
namespace {

std::optional<double> small_grid(std::int64_t blocks, const Device& device) {
  if (blocks == 0 || device.sms <= 0) return {};
  if (blocks >= device.sms) return 0.0;
  return 1.0 - static_cast<double>(blocks) / device.sms;
}

std::optional<double> tail(const LaunchConfig& config, const Device& device) {
  const std::optional<MultiprocessorLimits> limits = multiprocessor_limits(device);
  if (!limits) return {};
  const std::optional<Occupancy> occupancy = theoretical_occupancy(*limits, config);
  const std::optional<double> rounds =
      occupancy ? waves(*limits, config, *occupancy) : std::nullopt;
  if (!rounds) return {};
  const double begun = std::ceil(*rounds);
  return begun > 1 ? (begun - *rounds) / begun : 0.0;
}

std::optional<double> ragged_block(std::int64_t threads, const Device& device) {
  if (threads == 0 || device.warp_size <= 0) return {};
  const std::int64_t warps = (threads + device.warp_size - 1) / device.warp_size;
  const auto lanes = static_cast<double>(warps * device.warp_size);
  return 1.0 - static_cast<double>(threads) / lanes;
}

}  // namespace

LaunchWaste launch_waste(const LaunchConfig& config, const Device* device) {
  if (device == nullptr) return {};
  return {.small_grid = small_grid(volume(config.grid), *device),
          .tail = tail(config, *device),
          .ragged_block = ragged_block(volume(config.block), *device)};
}

}  // namespace fathom

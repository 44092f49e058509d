// Computes theoretical occupancy: how many blocks fit by each resource.
#include "analysis/kernels/occupancy.h"

#include <algorithm>
#include <array>
#include <limits>

namespace fathom {
namespace {

/// Per compute capability, from the table "Technical Specifications per Compute Capability" of
/// NVIDIA's CUDA C++ Programming Guide (12.9) and, for granularities, cuda_occupancy.h of the CUDA
/// toolkit.
struct Capability {
  int major;
  int minor;
  int warps;
  int blocks;
  int shared_kib;
};
constexpr Capability kCapabilities[] = {
    {3, 5, 64, 16, 48},   {3, 7, 64, 16, 112},  {5, 0, 64, 32, 64},   {5, 2, 64, 32, 96},
    {5, 3, 64, 32, 64},   {6, 0, 64, 32, 64},   {6, 1, 64, 32, 96},   {6, 2, 64, 32, 64},
    {7, 0, 64, 32, 96},   {7, 2, 64, 32, 96},   {7, 5, 32, 16, 64},   {8, 0, 64, 32, 164},
    {8, 6, 48, 16, 100},  {8, 7, 48, 16, 164},  {8, 9, 48, 24, 100},  {9, 0, 64, 32, 228},
    {10, 0, 64, 32, 228}, {10, 1, 48, 24, 228}, {10, 3, 64, 32, 228}, {11, 0, 48, 24, 228},
    {12, 0, 48, 24, 100}, {12, 1, 48, 24, 100},
};
constexpr std::int64_t kRegistersPerSm =
    65536;  // of every capability above but 3.7, which has twice as many
constexpr std::int64_t kKib = 1024;
constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

constexpr std::array<std::string_view, 4> kLimiterNames = {"warps", "registers", "shared memory",
                                                           "blocks"};

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

bool is_nvidia(const Device& device) {
  if (device.warp_size != 32) return false;
  constexpr std::string_view kOthers[] = {"AMD", "Radeon", "Instinct", "Intel", "MTIA"};
  return std::ranges::none_of(kOthers, [&](std::string_view vendor) {
    return device.name.find(vendor) != std::string::npos;
  });
}

std::int64_t blocks_by_registers(const MultiprocessorLimits& limits, std::int64_t registers,
                                 std::int64_t warps_per_block) {
  if (registers == 0) return kUnlimited;
  const std::int64_t per_warp = round_up(registers * limits.warp_size, limits.register_unit);
  const std::int64_t warps = limits.registers / limits.partitions / per_warp * limits.partitions;
  return warps / warps_per_block;
}

std::int64_t blocks_by_shared_memory(const MultiprocessorLimits& limits, std::int64_t bytes) {
  const std::int64_t per_block =
      round_up(bytes + limits.shared_memory_reserved, limits.shared_memory_unit);
  return per_block == 0 ? kUnlimited : limits.shared_memory / per_block;
}

}  // namespace

std::string_view to_string(OccupancyLimiter limiter) {
  return kLimiterNames[static_cast<std::size_t>(limiter)];
}

std::int64_t volume(const std::array<std::int32_t, 3>& extent) {
  // Three 31-bit factors can overflow in a damaged file; saturate.
  std::int64_t result = 0;
  if (__builtin_mul_overflow(std::int64_t{extent[0]} * extent[1], std::int64_t{extent[2]},
                             &result)) {
    return kUnlimited;
  }
  return std::max<std::int64_t>(result, 0);
}

std::optional<MultiprocessorLimits> multiprocessor_limits(const Device& device) {
  if (!is_nvidia(device)) return {};
  const auto* const at = std::ranges::find_if(kCapabilities, [&](const Capability& row) {
    return row.major == device.compute_major && row.minor == device.compute_minor;
  });
  if (at == std::end(kCapabilities)) return {};
  MultiprocessorLimits limits;
  limits.sms = device.sms;
  limits.warps =
      device.max_threads_per_sm > 0 ? device.max_threads_per_sm / limits.warp_size : at->warps;
  limits.blocks = at->blocks;
  const bool k80 = at->major == 3 && at->minor == 7;
  limits.registers =
      device.registers_per_sm > 0 ? device.registers_per_sm : kRegistersPerSm * (k80 ? 2 : 1);
  limits.partitions = at->major == 6 && at->minor == 0 ? 2 : 4;
  limits.shared_memory =
      device.shared_memory_per_sm > 0 ? device.shared_memory_per_sm : at->shared_kib * kKib;
  limits.shared_memory_unit = at->major >= 8 ? 128 : 256;
  limits.shared_memory_reserved = at->major >= 8 ? kKib : 0;
  return limits;
}

bool overlaps_dependents(const Device& device) {
  constexpr int kHopper = 9;
  return is_nvidia(device) && device.compute_major >= kHopper;
}

const Device* device_properties(const Trace& trace, std::int32_t number) {
  if (const Device* const device = trace.device(number)) return device;
  if (trace.devices.empty()) return nullptr;
  const Device& first = trace.devices.front();
  const bool alike = std::ranges::all_of(trace.devices, [&](const Device& other) {
    return other.name == first.name && other.sms == first.sms &&
           other.compute_major == first.compute_major &&
           other.compute_minor == first.compute_minor && other.memory_bytes == first.memory_bytes;
  });
  return alike ? &first : nullptr;
}

std::optional<Occupancy> theoretical_occupancy(const MultiprocessorLimits& limits,
                                               const LaunchConfig& config) {
  const std::int64_t threads = volume(config.block);
  if (threads == 0 || config.registers < 0 || config.shared_memory < 0) return {};
  if (threads > limits.warps * limits.warp_size) return {};
  if (config.shared_memory > limits.shared_memory) return {};
  const std::int64_t warps_per_block = (threads + limits.warp_size - 1) / limits.warp_size;
  // In the order of OccupancyLimiter.
  const std::array<std::int64_t, 4> by_resource = {
      limits.warps / warps_per_block,
      blocks_by_registers(limits, config.registers, warps_per_block),
      blocks_by_shared_memory(limits, config.shared_memory), limits.blocks};
  const auto* const scarcest = std::ranges::min_element(by_resource);
  if (*scarcest == 0) return {};
  return Occupancy{.blocks_per_sm = *scarcest,
                   .percent = 100.0 * static_cast<double>(*scarcest * warps_per_block) /
                              static_cast<double>(limits.warps),
                   .limiter = static_cast<OccupancyLimiter>(scarcest - by_resource.begin())};
}

std::optional<double> grid_blocks_per_sm(const LaunchConfig& config, const Device* device) {
  if (config.blocks_per_sm >= 0) return config.blocks_per_sm;
  const std::int64_t threads = volume(config.block);
  if (config.warps_per_sm >= 0 && threads > 0) {
    const std::int64_t warps_per_block = (threads + 31) / 32;  // older recorders: NVIDIA only
    return config.warps_per_sm / static_cast<double>(warps_per_block);
  }
  const std::int64_t blocks = volume(config.grid);
  if (device == nullptr || device->sms <= 0 || blocks == 0) return {};
  return static_cast<double>(blocks) / device->sms;
}

std::optional<double> waves(const MultiprocessorLimits& limits, const LaunchConfig& config,
                            const Occupancy& occupancy) {
  const std::int64_t blocks = volume(config.grid);
  if (limits.sms <= 0 || blocks == 0) return {};
  return static_cast<double>(blocks) / static_cast<double>(occupancy.blocks_per_sm * limits.sms);
}

std::optional<double> achieved_occupancy(const LaunchConfig& config, const Device* device) {
  if (config.occupancy_percent >= 0) return config.occupancy_percent;
  if (device == nullptr || device->sms <= 0) return {};
  const std::optional<MultiprocessorLimits> limits = multiprocessor_limits(*device);
  const std::int64_t blocks = volume(config.grid);
  if (!limits || blocks == 0) return {};
  const std::optional<Occupancy> theoretical = theoretical_occupancy(*limits, config);
  if (!theoretical) return {};
  const double threads = static_cast<double>(blocks) * static_cast<double>(volume(config.block));
  const double room = static_cast<double>(limits->warps * limits->warp_size) * device->sms;
  return std::min(100.0 * threads / room, theoretical->percent);
}

}  // namespace fathom

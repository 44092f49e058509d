// Theoretical occupancy of a launch, and what limits it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "store/trace.h"

namespace fathom {

/// What one multiprocessor of an NVIDIA device can hold.
struct MultiprocessorLimits {
  std::int64_t sms = 0;  ///< 0 when unknown.
  std::int64_t warp_size = 32;
  std::int64_t warps = 0;
  std::int64_t blocks = 0;
  std::int64_t registers = 0;
  std::int64_t register_unit = 256;  ///< A warp's registers are rounded up to this.
  std::int64_t partitions = 4;       ///< Registers are shared out to warps per partition.
  std::int64_t shared_memory = 0;    ///< Bytes at the largest carve-out.
  std::int64_t shared_memory_unit = 128;
  std::int64_t shared_memory_reserved = 0;  ///< Bytes per block taken by the system.
};

/// Limits of a device: deviceProperties where they speak, else the table of compute capabilities.
/// Nothing for devices of other vendors (their compute capability is a number of their own) and for
/// capabilities not in the table.
std::optional<MultiprocessorLimits> multiprocessor_limits(const Device& device);

/// The device that ran it, or, when the recorder numbered devices otherwise (one visible of many),
/// the one that all listed devices are alike to. May be nullptr.
const Device* device_properties(const Trace& trace, std::int32_t number);

/// May a kernel begin before its predecessor on the stream has ended? Programmatic dependent
/// launch: NVIDIA, compute capability 9.0 and newer.
bool overlaps_dependents(const Device& device);

enum class OccupancyLimiter : std::uint8_t { warps, registers, shared_memory, blocks };
std::string_view to_string(OccupancyLimiter limiter);

struct Occupancy {
  std::int64_t blocks_per_sm = 0;  ///< Blocks that fit on one multiprocessor at once.
  double percent = 0;              ///< Their warps of the warps that fit, 0…100.
  OccupancyLimiter limiter = OccupancyLimiter::warps;  ///< The scarcest; ties in the order above.
};

/// As NVIDIA's cuda_occupancy.h computes it. Nothing when block size, registers or shared memory
/// were not recorded, or when the launch does not fit the limits at all.
std::optional<Occupancy> theoretical_occupancy(const MultiprocessorLimits& limits,
                                               const LaunchConfig& config);

/// Blocks of the grid, or threads of a block: 0 where not recorded.
std::int64_t volume(const std::array<std::int32_t, 3>& extent);

/// Blocks of the grid per multiprocessor: as recorded, else from warps per multiprocessor, else
/// from grid and device. Nothing when that is not known either. `device` may be nullptr.
std::optional<double> grid_blocks_per_sm(const LaunchConfig& config, const Device* device);

/// How often the device must be filled with blocks to run the grid: grid / (resident blocks * SMs).
std::optional<double> waves(const MultiprocessorLimits& limits, const LaunchConfig& config,
                            const Occupancy& occupancy);

/// Estimated achieved occupancy, 0…100: as recorded, else as the recorder would compute it:
/// min(threads / multiprocessors / threads per multiprocessor, theoretical).
std::optional<double> achieved_occupancy(const LaunchConfig& config, const Device* device);

}  // namespace fathom

// How well the grid and blocks of a launch fit a device, from launch data alone.
#pragma once

#include <optional>

#include "analysis/kernels/occupancy.h"
#include "store/trace.h"

namespace fathom {

/// What a launch wastes. Shares are of the kernel's time, 0…1, for what Nsight Compute's rule
/// LaunchConfiguration looks at; unset where the launch or the device is not known.
struct LaunchWaste {
  /// Multiprocessors that get no block: (SMs - blocks) / SMs; 0 for a grid that fills the device.
  std::optional<double> small_grid;
  /// Waiting for a last wave of blocks that is only partly full: its empty part, of all waves; 0
  /// where all waves are full, or the only one is not.
  std::optional<double> tail;
  /// Lanes of a block's last warp that have no thread, of the lanes of all its warps; 0 for a
  /// block size that is a multiple of the warp.
  std::optional<double> ragged_block;
};

/// `device` may be nullptr: then nothing is known.
LaunchWaste launch_waste(const LaunchConfig& config, const Device* device);

}  // namespace fathom

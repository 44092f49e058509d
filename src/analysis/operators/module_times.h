// Host and device time per module of the nn.Module hierarchy.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/context.h"
#include "base/time.h"

namespace fathom {

/// Sums for one row of Modules::nodes. "Total" includes the modules inside, "self" does not.
struct ModuleTimes {
  std::int64_t calls = 0;  ///< Frames.
  Duration
      host_total{};  ///< Of its frames: forward only, as the backward pass runs outside of frames.
  Duration host_self{};
  Duration backward_host{};  ///< Backward operators of its forward operators; total.
  Duration device_total{};   ///< Activities launched in its frames or by those backward operators.
  Duration device_self{};
  Duration backward_device{};  ///< The part of device_total that backward operators launched.
};

/// By node, for the selection. Σ device_self over all nodes, the top one included, is the duration
/// of all selected activities.
std::vector<ModuleTimes> compute_module_times(const Context& context);

}  // namespace fathom

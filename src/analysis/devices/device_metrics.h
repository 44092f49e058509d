// How well a device was used over a window, as the former TensorBoard plugin defined it.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/structure/timeline.h"
#include "store/trace.h"

namespace fathom {

/// Over one window of one device. Percentages are 0…100; unset where nothing was recorded for it.
struct DeviceMetrics {
  Interval window{};
  BusyTime time;
  std::uint64_t kernels = 0;    ///< Kernels of any class that start in the window.
  Duration kernel_time{};       ///< Σ of the parts of kernels that lie in the window.
  Duration tensor_core_time{};  ///< The same of those on matrix units.
  /// Time with a kernel running / window (the plugin's "GPU Utilization").
  std::optional<double> kernel_percent{};
  /// ∫ min(1, Σ blocks per SM of the kernels running) dt / window (the plugin's "Est. SM
  /// Efficiency").
  std::optional<double> sm_efficiency_percent{};
  /// Mean of the kernels' estimated achieved occupancy, weighted by their time in the window.
  std::optional<double> achieved_occupancy_percent{};
  /// Kernel time on matrix units / kernel time.
  std::optional<double> tensor_core_percent{};
  /// Share of kernel time whose launch shows blocks per SM, or occupancy; 1 when all do. The two
  /// metrics above are set only where their share is positive, and speak for that part.
  double sm_known = 0;
  double occupancy_known = 0;
  /// Share of kernel time whose occupancy was recorded as 0 although the launch takes more than 48
  /// KiB of shared memory per block: recorders give up on those.
  double occupancy_doubtful = 0;
};

/// O(activities + overlaps) of that device. `timelines` must belong to `trace`.
DeviceMetrics compute_device_metrics(const Trace& trace, const Timelines& timelines,
                                     const DeviceTimeline& timeline, Interval window);

}  // namespace fathom

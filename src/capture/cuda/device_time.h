// What libfathom_cuda.so tells the process that it is in: how long the device has worked so far.
#pragma once

#include <cstdint>

namespace fathom::cuda {

/// Sums since the library began, over kernels, copies, fills and whole graphs that CUPTI has handed
/// over. What ran at the same time counts each for itself.
struct DeviceTime {
  std::int64_t ns = 0;
  std::uint64_t activities = 0;
  /// That CUPTI had no room or no times for, that still ran, or that were not to be recorded.
  std::uint64_t missed = 0;
};

/// The name of the library's function for it, of the type below. After the caller has waited for
/// the device, all that it began there is in the sums. Null where it was read; else why not, a
/// sentence that lives as long as the library. Thread-safe; takes the recorder's next tick, which
/// it asks for.
inline constexpr const char* kDeviceTimeName = "fathom_device_time";
using DeviceTimeFunction = const char* (*)(DeviceTime* read);

}  // namespace fathom::cuda

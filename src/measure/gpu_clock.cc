// Finds the device among those of NVML.
#include "measure/gpu_clock.h"

#include <memory>

#include "monitor/nvml.h"

namespace fathom::measure {

std::function<ClockReading()> clock_of_gpu(const std::string& uuid, const std::string& nvml_path) {
  Result<std::shared_ptr<monitor::Nvml>> opened = monitor::Nvml::open(nvml_path);
  if (!opened || uuid.empty()) return {};
  const std::shared_ptr<monitor::Nvml> nvml = *opened;
  const unsigned count = nvml->device_count().value;
  for (unsigned index = 0; index < count; ++index) {
    const monitor::NvmlReading<monitor::NvmlDevice> device = nvml->device(index);
    if (!device.ok() || nvml->uuid(device.value).value != uuid) continue;
    return [nvml, handle = device.value] {
      ClockReading reading;
      const auto clock = nvml->clock(handle, monitor::NvmlClock::sm);
      if (clock.ok()) reading.sm_mhz = clock.value;
      const auto reasons = nvml->clock_reasons(handle);
      if (reasons.ok()) reading.reasons = shares_of(reasons.value);
      return reading;
    };
  }
  return {};
}

}  // namespace fathom::measure

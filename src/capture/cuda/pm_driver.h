// Which GPUs the program works on, asked of CUDA's driver without making it do anything.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <cuda.h>

namespace fathom::cuda {

/// Of the driver that the process has loaded; null where it has none.
struct PmDriver {
  decltype(&::cuDeviceGetCount) count = nullptr;
  decltype(&::cuDeviceGet) device = nullptr;
  decltype(&::cuDevicePrimaryCtxGetState) state = nullptr;
  decltype(&::cuDeviceGetPCIBusId) bus_id = nullptr;

  /// How many the program sees; 0 before CUDA is initialised.
  [[nodiscard]] int devices() const;
  /// True where the program has the context that the runtime makes.
  [[nodiscard]] bool in_use(int number) const;
  /// The number by PCI bus, as nvidia-smi has it: telemetry counts so. CUDA's own where that is not
  /// known.
  [[nodiscard]] int gpu_number(int number) const;
};

PmDriver pm_driver();

/// The place of a GPU among the folders of /proc/driver/nvidia/gpus, named by PCI bus.
std::optional<int> place_on_bus(std::span<const std::string> folders, std::string_view bus_id);

}  // namespace fathom::cuda

// What GPUs there are, and the conditions under which they run: for the manifest and `doctor`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "monitor/ability.h"

namespace fathom::monitor {

/// A part of a GPU in MIG mode.
struct GpuInstance {
  std::string name;
  std::string uuid;
  std::int64_t memory_bytes = 0;
};

/// One GPU. Numbers are unset, texts empty, where the driver does not report it.
struct GpuDescription {
  unsigned index = 0;  ///< NVML's: by PCI bus. CUDA's may differ (CUDA_DEVICE_ORDER).
  std::string name;
  std::string uuid;
  std::optional<std::int64_t> memory_bytes;
  std::optional<double> power_limit_w;
  std::optional<double> default_power_limit_w;
  std::optional<std::int64_t> sm_clock_mhz;
  std::optional<std::int64_t> sm_clock_max_mhz;
  std::optional<std::int64_t> memory_clock_mhz;
  std::optional<std::int64_t> memory_clock_max_mhz;
  std::optional<std::int64_t> temperature_c;
  std::optional<bool> persistence;
  std::optional<bool> ecc;
  std::optional<bool> mig;
  std::optional<std::int64_t> pcie_generation;
  std::optional<std::int64_t> pcie_generation_max;
  std::optional<std::int64_t> pcie_width;
  std::optional<std::int64_t> pcie_width_max;
  std::vector<GpuInstance> instances;  ///< In MIG mode.
};

struct GpuSystem {
  std::string driver;  ///< "550.54.15".
  std::string cuda;    ///< The newest CUDA that the driver speaks: "12.4".
  std::vector<GpuDescription> gpus;
  std::string why;     ///< Why there are none.
  std::string remedy;  ///< What would help.
};

/// Asks NVML, once. `nvml_path` as in SamplerOptions.
GpuSystem describe_gpus(const std::string& nvml_path = {});

/// Programs that compute on a GPU at this moment, those behind an MPS server too.
struct GpuPrograms {
  unsigned index = 0;  ///< As GpuDescription::index.
  std::int64_t count = 0;
  std::optional<std::int64_t> memory_bytes;  ///< Of all of them; unset where one is not known.
};
/// Of each GPU whose driver tells it, this process left out. `nvml_path` as in SamplerOptions.
std::vector<GpuPrograms> gpu_programs(const std::string& nvml_path = {});

/// One line of JSON with the members' names as keys; what is unset is left out.
std::string to_json(const GpuDescription& gpu);

}  // namespace fathom::monitor

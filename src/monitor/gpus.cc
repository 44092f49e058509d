// Lists the GPUs with their driver, memory and power limit.
#include "monitor/gpus.h"

#include <utility>

#include <unistd.h>

#include "base/json_writer.h"
#include "monitor/nvml.h"

namespace fathom::monitor {
namespace {

constexpr double kMilli = 1e-3;

template <typename Value>
std::optional<std::int64_t> integer(const NvmlReading<Value>& reading) {
  if (!reading.ok()) return {};
  return static_cast<std::int64_t>(reading.value);
}

std::optional<double> watts(const NvmlReading<unsigned>& reading) {
  if (!reading.ok()) return {};
  return kMilli * reading.value;
}

std::optional<bool> flag(const NvmlReading<bool>& reading) {
  if (!reading.ok()) return {};
  return reading.value;
}

std::optional<std::int64_t> memory_of(const Nvml& nvml, NvmlDevice device) {
  const auto memory = nvml.memory(device);
  if (!memory.ok()) return {};
  return static_cast<std::int64_t>(memory.value.total);
}

GpuDescription describe(const Nvml& nvml, unsigned index, NvmlDevice device) {
  GpuDescription gpu{.index = index,
                     .name = nvml.name(device).value,
                     .uuid = nvml.uuid(device).value,
                     .memory_bytes = memory_of(nvml, device),
                     .power_limit_w = watts(nvml.power_limit(device)),
                     .default_power_limit_w = watts(nvml.default_power_limit(device)),
                     .sm_clock_mhz = integer(nvml.clock(device, NvmlClock::sm)),
                     .sm_clock_max_mhz = integer(nvml.max_clock(device, NvmlClock::sm)),
                     .memory_clock_mhz = integer(nvml.clock(device, NvmlClock::memory)),
                     .memory_clock_max_mhz = integer(nvml.max_clock(device, NvmlClock::memory)),
                     .temperature_c = integer(nvml.temperature(device)),
                     .persistence = flag(nvml.persistence(device)),
                     .ecc = flag(nvml.ecc_enabled(device)),
                     .mig = flag(nvml.mig_enabled(device)),
                     .pcie_generation = integer(nvml.pcie_generation(device)),
                     .pcie_generation_max = integer(nvml.max_pcie_generation(device)),
                     .pcie_width = integer(nvml.pcie_width(device)),
                     .pcie_width_max = integer(nvml.max_pcie_width(device)),
                     .instances = {}};
  if (!gpu.mig.value_or(false)) return gpu;
  for (NvmlDevice instance : nvml.mig_devices(device)) {
    gpu.instances.push_back({.name = nvml.name(instance).value,
                             .uuid = nvml.uuid(instance).value,
                             .memory_bytes = memory_of(nvml, instance).value_or(0)});
  }
  return gpu;
}

template <typename T>
void write_if(JsonWriter& json, std::string_view key, const std::optional<T>& value) {
  if (value) json.member(key, *value);
}

void write_if(JsonWriter& json, std::string_view key, std::string_view value) {
  if (!value.empty()) json.member(key, value);
}

/// Six decimals, as all watts of a recording.
void write_watts(JsonWriter& json, std::string_view key, const std::optional<double>& value) {
  if (value) json.key(key).raw(std::to_string(*value));
}

}  // namespace

GpuSystem describe_gpus(const std::string& nvml_path) {
  GpuSystem system;
  const auto opened = Nvml::open(nvml_path);
  if (!opened) {
    system.why = opened.error().message;
    system.remedy = opened.error().code == ErrorCode::not_found
                        ? "the NVIDIA driver; in a container: start it with --gpus all and "
                          "NVIDIA_DRIVER_CAPABILITIES=compute,utility"
                        : remedy(NvmlCode::no_permission);
    return system;
  }
  const Nvml& nvml = **opened;
  system.driver = nvml.driver_version().value;
  if (const auto cuda = nvml.cuda_version(); cuda.ok()) {
    system.cuda = std::to_string(cuda.value / 1000) + "." + std::to_string(cuda.value % 1000 / 10);
  }
  const auto count = nvml.device_count();
  if (!count.ok() || count.value == 0) {
    system.why = count.ok() ? "the driver sees no GPU" : why(count.code);
    system.remedy = remedy(count.code);
  }
  for (unsigned index = 0; count.ok() && index < count.value; ++index) {
    if (const auto device = nvml.device(index); device.ok()) {
      system.gpus.push_back(describe(nvml, index, device.value));
    }
  }
  return system;
}

std::vector<GpuPrograms> gpu_programs(const std::string& nvml_path) {
  std::vector<GpuPrograms> all;
  const auto opened = Nvml::open(nvml_path);
  if (!opened) return all;
  const Nvml& nvml = **opened;
  const auto count = nvml.device_count();
  const auto own = static_cast<std::uint32_t>(getpid());
  for (unsigned index = 0; count.ok() && index < count.value; ++index) {
    const auto device = nvml.device(index);
    if (!device.ok()) continue;
    const auto processes = nvml.processes(device.value);
    if (!processes.ok()) continue;
    GpuPrograms programs{.index = index, .count = 0, .memory_bytes = 0};
    for (const NvmlProcess& process : processes.value) {
      if (process.pid == own) continue;
      ++programs.count;
      if (!process.memory_bytes) programs.memory_bytes.reset();
      if (programs.memory_bytes)
        *programs.memory_bytes += static_cast<std::int64_t>(*process.memory_bytes);
    }
    all.push_back(programs);
  }
  return all;
}

std::string to_json(const GpuDescription& gpu) {
  std::string text;
  JsonWriter json(text);
  json.object();
  json.member("index", gpu.index);
  write_if(json, "name", gpu.name);
  write_if(json, "uuid", gpu.uuid);
  write_if(json, "memory_bytes", gpu.memory_bytes);
  write_watts(json, "power_limit_w", gpu.power_limit_w);
  write_watts(json, "default_power_limit_w", gpu.default_power_limit_w);
  write_if(json, "sm_clock_mhz", gpu.sm_clock_mhz);
  write_if(json, "sm_clock_max_mhz", gpu.sm_clock_max_mhz);
  write_if(json, "memory_clock_mhz", gpu.memory_clock_mhz);
  write_if(json, "memory_clock_max_mhz", gpu.memory_clock_max_mhz);
  write_if(json, "temperature_c", gpu.temperature_c);
  write_if(json, "persistence", gpu.persistence);
  write_if(json, "ecc", gpu.ecc);
  write_if(json, "mig", gpu.mig);
  write_if(json, "pcie_generation", gpu.pcie_generation);
  write_if(json, "pcie_generation_max", gpu.pcie_generation_max);
  write_if(json, "pcie_width", gpu.pcie_width);
  write_if(json, "pcie_width_max", gpu.pcie_width_max);
  if (!gpu.instances.empty()) {
    json.key("instances").array();
    for (const GpuInstance& instance : gpu.instances) {
      json.object();
      write_if(json, "name", instance.name);
      write_if(json, "uuid", instance.uuid);
      json.member("memory_bytes", instance.memory_bytes).end();
    }
    json.end();
  }
  json.end();
  return text;
}

}  // namespace fathom::monitor

// Lists the GPUs with their driver, memory and power limit.
#include "monitor/gpus.h"

#include <utility>

#include "monitor/json_text.h"
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

/// Members of one JSON object.
class Members {
 public:
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) add(key, json_text(value));
  }
  void number(std::string_view key, const std::optional<std::int64_t>& value) {
    if (value) add(key, std::to_string(*value));
  }
  void real(std::string_view key, const std::optional<double>& value) {
    if (value) add(key, std::to_string(*value));
  }
  void flag(std::string_view key, const std::optional<bool>& value) {
    if (value) add(key, *value ? "true" : "false");
  }
  void add(std::string_view key, std::string_view json) {
    text_ += (text_.empty() ? "" : ", ") + json_text(key) + ": " + std::string(json);
  }
  [[nodiscard]] std::string done() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

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

std::string to_json(const GpuDescription& gpu) {
  Members members;
  members.number("index", gpu.index);
  members.text("name", gpu.name);
  members.text("uuid", gpu.uuid);
  members.number("memory_bytes", gpu.memory_bytes);
  members.real("power_limit_w", gpu.power_limit_w);
  members.real("default_power_limit_w", gpu.default_power_limit_w);
  members.number("sm_clock_mhz", gpu.sm_clock_mhz);
  members.number("sm_clock_max_mhz", gpu.sm_clock_max_mhz);
  members.number("memory_clock_mhz", gpu.memory_clock_mhz);
  members.number("memory_clock_max_mhz", gpu.memory_clock_max_mhz);
  members.number("temperature_c", gpu.temperature_c);
  members.flag("persistence", gpu.persistence);
  members.flag("ecc", gpu.ecc);
  members.flag("mig", gpu.mig);
  members.number("pcie_generation", gpu.pcie_generation);
  members.number("pcie_generation_max", gpu.pcie_generation_max);
  members.number("pcie_width", gpu.pcie_width);
  members.number("pcie_width_max", gpu.pcie_width_max);
  std::string instances;
  for (const GpuInstance& instance : gpu.instances) {
    Members one;
    one.text("name", instance.name);
    one.text("uuid", instance.uuid);
    one.number("memory_bytes", instance.memory_bytes);
    instances += (instances.empty() ? "" : ", ") + one.done();
  }
  if (!instances.empty()) members.add("instances", "[" + instances + "]");
  return members.done();
}

}  // namespace fathom::monitor

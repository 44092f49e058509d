// Opens NVML at run time and wraps its calls.
#include "monitor/nvml.h"

#include <array>
#include <charconv>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <dlfcn.h>

#include "monitor/nvml_api.h"

namespace fathom::monitor {
namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";
constexpr int kTemperatureOfChip = 0;
constexpr int kSend = 0;
constexpr int kReceive = 1;
constexpr int kCorrected = 0;
constexpr int kUncorrected = 1;
constexpr int kSinceLoad = 0;
/// More processes on one GPU than this are not listed.
constexpr unsigned kMostProcesses = 1024;
constexpr unsigned kMostInstances = 32;

/// The first of these names that the library has: the newest version first.
template <typename Function>
void find(void* library, Function& function, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (void* const symbol = ::dlsym(library, name)) {
      function = reinterpret_cast<Function>(symbol);
      return;
    }
  }
}

void find_all(void* library, NvmlApi& api) {
  find(library, api.init, {"nvmlInit_v2", "nvmlInit"});
  find(library, api.shutdown, {"nvmlShutdown"});
  find(library, api.driver_version, {"nvmlSystemGetDriverVersion"});
  find(library, api.cuda_version,
       {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  find(library, api.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  find(library, api.handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  find(library, api.name, {"nvmlDeviceGetName"});
  find(library, api.uuid, {"nvmlDeviceGetUUID"});
  find(library, api.memory_v1, {"nvmlDeviceGetMemoryInfo"});
  find(library, api.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  find(library, api.utilization, {"nvmlDeviceGetUtilizationRates"});
  find(library, api.power, {"nvmlDeviceGetPowerUsage"});
  find(library, api.power_limit,
       {"nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"});
  find(library, api.default_power_limit, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  find(library, api.energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(library, api.clock, {"nvmlDeviceGetClockInfo"});
  find(library, api.max_clock, {"nvmlDeviceGetMaxClockInfo"});
  find(library, api.temperature, {"nvmlDeviceGetTemperature"});
  find(library, api.clock_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(library, api.performance_state,
       {"nvmlDeviceGetPerformanceState", "nvmlDeviceGetPowerState"});
  find(library, api.pcie_rate, {"nvmlDeviceGetPcieThroughput"});
  find(library, api.fields, {"nvmlDeviceGetFieldValues"});
  find(library, api.pcie_generation, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  find(library, api.pcie_width, {"nvmlDeviceGetCurrPcieLinkWidth"});
  find(library, api.max_pcie_generation, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  find(library, api.max_pcie_width, {"nvmlDeviceGetMaxPcieLinkWidth"});
  find(library, api.ecc_errors, {"nvmlDeviceGetTotalEccErrors"});
  find(library, api.ecc_mode, {"nvmlDeviceGetEccMode"});
  find(library, api.persistence, {"nvmlDeviceGetPersistenceMode"});
  find(library, api.mig_mode, {"nvmlDeviceGetMigMode"});
  find(library, api.mig_count, {"nvmlDeviceGetMaxMigDeviceCount"});
  find(library, api.mig_handle, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  find(library, api.processes_v1, {"nvmlDeviceGetComputeRunningProcesses"});
}

/// Calls a function that fills its last argument.
template <typename Value, typename Function, typename... Arguments>
NvmlReading<Value> ask(Function function, Arguments... arguments) {
  NvmlReading<Value> reading;
  if (function == nullptr) {
    reading.code = NvmlCode::function_not_found;
  } else {
    reading.code = static_cast<NvmlCode>(function(arguments..., &reading.value));
  }
  return reading;
}

template <typename Function, typename... Arguments>
NvmlReading<std::string> ask_text(Function function, Arguments... arguments) {
  if (function == nullptr) return {.code = NvmlCode::function_not_found};
  std::array<char, kNvmlTextBytes> text{};
  const auto code = static_cast<NvmlCode>(function(arguments..., text.data(), kNvmlTextBytes - 1));
  return {.code = code, .value = code == NvmlCode::success ? std::string(text.data()) : ""};
}

/// Drivers 535.43 to 535.86 write rows of 32 bytes into the third version of the lists of
/// processes, all others rows of 24.
bool has_longer_rows(std::string_view driver) {
  constexpr std::string_view kBranch = "535.";
  constexpr int kFirst = 43;
  constexpr int kLast = 86;
  if (!driver.starts_with(kBranch)) return false;
  driver.remove_prefix(kBranch.size());
  int release = 0;
  std::from_chars(driver.data(), driver.data() + driver.size(), release);
  return release >= kFirst && release <= kLast;
}

/// Once the library is initialised: which driver it is of decides.
void find_lists(void* library, NvmlApi& api) {
  if (!has_longer_rows(ask_text(api.driver_version).value)) {
    find(library, api.processes_v2, {"nvmlDeviceGetComputeRunningProcesses_v3"});
    find(library, api.mps_processes, {"nvmlDeviceGetMPSComputeRunningProcesses_v3"});
  }
  if (api.processes_v2 == nullptr)
    find(library, api.processes_v2, {"nvmlDeviceGetComputeRunningProcesses_v2"});
  if (api.mps_processes == nullptr)
    find(library, api.mps_processes, {"nvmlDeviceGetMPSComputeRunningProcesses_v2"});
}

/// Flags are ints in C.
NvmlReading<bool> flag(NvmlReading<int> reading) {
  return {.code = reading.code, .value = reading.value != 0};
}

NvmlReading<unsigned long long> field(const NvmlApi& api, NvmlDevice device, unsigned id) {
  if (api.fields == nullptr) return {.code = NvmlCode::function_not_found};
  NvmlFieldValue value{};
  value.field = id;
  auto code = static_cast<NvmlCode>(api.fields(device, 1, &value));
  if (code == NvmlCode::success) code = static_cast<NvmlCode>(value.code);
  switch (value.type) {
    case kNvmlReal:
      return {.code = code, .value = static_cast<unsigned long long>(value.value.real)};
    case kNvmlUnsigned:
      return {.code = code, .value = value.value.natural};
    default:
      return {.code = code, .value = value.value.natural_long_long};
  }
}

/// NVML says how many there are by failing: ask again with room for them.
template <typename Row, typename Function>
NvmlCode list(Function function, NvmlDevice device, std::vector<NvmlProcess>& into) {
  unsigned count = 32;
  std::vector<Row> rows(count);
  auto code = static_cast<NvmlCode>(function(device, &count, rows.data()));
  if (code == NvmlCode::insufficient_size && count <= kMostProcesses) {
    count += 16;  // some may come meanwhile
    rows.resize(count);
    code = static_cast<NvmlCode>(function(device, &count, rows.data()));
  }
  if (code != NvmlCode::success) return code;
  rows.resize(std::min<std::size_t>(count, rows.size()));
  for (const Row& row : rows) {
    NvmlProcess process{.pid = row.pid, .memory_bytes = {}};
    if (row.used != kNvmlNotAvailable) process.memory_bytes = row.used;
    into.push_back(process);
  }
  return code;
}

}  // namespace

std::string why(NvmlCode code) {
  switch (code) {
    case NvmlCode::success:
      return {};
    case NvmlCode::not_supported:
      return "not supported by this GPU or its driver";
    case NvmlCode::no_permission:
      return "not permitted to this user";
    case NvmlCode::driver_not_loaded:
      return "the NVIDIA driver is not loaded";
    case NvmlCode::library_not_found:
    case NvmlCode::not_found:
      return "not found by the driver";
    case NvmlCode::function_not_found:
      return "the driver is too old to report it";
    case NvmlCode::gpu_is_lost:
      return "the GPU has fallen off the bus";
    case NvmlCode::reset_required:
      return "the GPU needs a reset";
    case NvmlCode::version_mismatch:
      return "libnvidia-ml.so.1 and the loaded driver are of different versions";
    case NvmlCode::timeout:
      return "the driver did not answer in time";
    default:
      return "NVML error " + std::to_string(static_cast<int>(code));
  }
}

std::string remedy(NvmlCode code) {
  switch (code) {
    case NvmlCode::no_permission:
      return "let the user open /dev/nvidiactl and /dev/nvidia*; in a container: start it with "
             "--gpus all and NVIDIA_DRIVER_CAPABILITIES=compute,utility";
    case NvmlCode::driver_not_loaded:
      return "load the driver (nvidia-smi does); in a container: start it with --gpus all";
    case NvmlCode::function_not_found:
      return "a newer driver";
    case NvmlCode::gpu_is_lost:
    case NvmlCode::reset_required:
      return "reset the GPU or restart the machine; the kernel's log (Xid) shows why";
    case NvmlCode::version_mismatch:
      return "restart after the update of the driver";
    default:
      return {};
  }
}

Nvml::Nvml(void* library, std::unique_ptr<NvmlApi> api) : library_(library), api_(std::move(api)) {}

Nvml::~Nvml() {
  if (api_->shutdown != nullptr) api_->shutdown();
  ::dlclose(library_);
}

Result<std::shared_ptr<Nvml>> Nvml::open(const std::string& path) {
  void* const library = ::dlopen(path.empty() ? kLibrary : path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error{ErrorCode::not_found,
                 "NVML (" + (path.empty() ? kLibrary : path) + ") is not installed"};
  }
  auto api = std::make_unique<NvmlApi>();
  find_all(library, *api);
  const bool usable = api->init != nullptr && api->count != nullptr && api->handle != nullptr;
  const NvmlCode code = usable ? static_cast<NvmlCode>(api->init()) : NvmlCode::function_not_found;
  if (code != NvmlCode::success) {
    ::dlclose(library);
    return Error{ErrorCode::unsupported, why(code)};
  }
  find_lists(library, *api);
  return std::shared_ptr<Nvml>(new Nvml(library, std::move(api)));
}

NvmlReading<std::string> Nvml::driver_version() const { return ask_text(api_->driver_version); }
NvmlReading<int> Nvml::cuda_version() const { return ask<int>(api_->cuda_version); }
NvmlReading<unsigned> Nvml::device_count() const { return ask<unsigned>(api_->count); }
NvmlReading<NvmlDevice> Nvml::device(unsigned index) const {
  return ask<NvmlDevice>(api_->handle, index);
}
NvmlReading<std::string> Nvml::name(NvmlDevice device) const {
  return ask_text(api_->name, device);
}
NvmlReading<std::string> Nvml::uuid(NvmlDevice device) const {
  return ask_text(api_->uuid, device);
}

NvmlReading<NvmlMemory> Nvml::memory(NvmlDevice device) const {
  if (api_->memory_v2 != nullptr) {
    NvmlMemoryV2 memory{};
    memory.version = kNvmlMemoryV2;
    const auto code = static_cast<NvmlCode>(api_->memory_v2(device, &memory));
    if (code == NvmlCode::success) return {code, {memory.total, memory.used}};
  }
  const auto old = ask<NvmlMemoryV1>(api_->memory_v1, device);
  return {old.code, {old.value.total, old.value.used}};
}

NvmlReading<unsigned> Nvml::utilization(NvmlDevice device) const {
  const auto both = ask<NvmlUtilizationV1>(api_->utilization, device);
  return {both.code, both.value.gpu};
}
NvmlReading<unsigned> Nvml::memory_utilization(NvmlDevice device) const {
  const auto both = ask<NvmlUtilizationV1>(api_->utilization, device);
  return {both.code, both.value.memory};
}
NvmlReading<unsigned> Nvml::power(NvmlDevice device) const {
  return ask<unsigned>(api_->power, device);
}
NvmlReading<unsigned> Nvml::power_limit(NvmlDevice device) const {
  return ask<unsigned>(api_->power_limit, device);
}
NvmlReading<unsigned> Nvml::default_power_limit(NvmlDevice device) const {
  return ask<unsigned>(api_->default_power_limit, device);
}
NvmlReading<unsigned long long> Nvml::energy(NvmlDevice device) const {
  return ask<unsigned long long>(api_->energy, device);
}
NvmlReading<unsigned> Nvml::clock(NvmlDevice device, NvmlClock which) const {
  return ask<unsigned>(api_->clock, device, static_cast<int>(which));
}
NvmlReading<unsigned> Nvml::max_clock(NvmlDevice device, NvmlClock which) const {
  return ask<unsigned>(api_->max_clock, device, static_cast<int>(which));
}
NvmlReading<unsigned> Nvml::temperature(NvmlDevice device) const {
  return ask<unsigned>(api_->temperature, device, kTemperatureOfChip);
}
NvmlReading<unsigned long long> Nvml::clock_reasons(NvmlDevice device) const {
  return ask<unsigned long long>(api_->clock_reasons, device);
}
NvmlReading<int> Nvml::performance_state(NvmlDevice device) const {
  return ask<int>(api_->performance_state, device);
}
NvmlReading<unsigned> Nvml::pcie_send_rate(NvmlDevice device) const {
  return ask<unsigned>(api_->pcie_rate, device, kSend);
}
NvmlReading<unsigned> Nvml::pcie_receive_rate(NvmlDevice device) const {
  return ask<unsigned>(api_->pcie_rate, device, kReceive);
}
NvmlReading<unsigned long long> Nvml::pcie_sent(NvmlDevice device) const {
  return field(*api_, device, kNvmlPcieSentBytes);
}
NvmlReading<unsigned long long> Nvml::pcie_received(NvmlDevice device) const {
  return field(*api_, device, kNvmlPcieReceivedBytes);
}
NvmlReading<unsigned> Nvml::pcie_generation(NvmlDevice device) const {
  return ask<unsigned>(api_->pcie_generation, device);
}
NvmlReading<unsigned> Nvml::pcie_width(NvmlDevice device) const {
  return ask<unsigned>(api_->pcie_width, device);
}
NvmlReading<unsigned> Nvml::max_pcie_generation(NvmlDevice device) const {
  return ask<unsigned>(api_->max_pcie_generation, device);
}
NvmlReading<unsigned> Nvml::max_pcie_width(NvmlDevice device) const {
  return ask<unsigned>(api_->max_pcie_width, device);
}
NvmlReading<unsigned long long> Nvml::ecc_corrected(NvmlDevice device) const {
  return ask<unsigned long long>(api_->ecc_errors, device, kCorrected, kSinceLoad);
}
NvmlReading<unsigned long long> Nvml::ecc_uncorrected(NvmlDevice device) const {
  return ask<unsigned long long>(api_->ecc_errors, device, kUncorrected, kSinceLoad);
}
NvmlReading<bool> Nvml::ecc_enabled(NvmlDevice device) const {
  if (api_->ecc_mode == nullptr) return {.code = NvmlCode::function_not_found};
  int current = 0;
  int pending = 0;
  const auto code = static_cast<NvmlCode>(api_->ecc_mode(device, &current, &pending));
  return {code, current != 0};
}
NvmlReading<bool> Nvml::persistence(NvmlDevice device) const {
  return flag(ask<int>(api_->persistence, device));
}
NvmlReading<bool> Nvml::mig_enabled(NvmlDevice device) const {
  if (api_->mig_mode == nullptr) return {.code = NvmlCode::function_not_found};
  unsigned current = 0;
  unsigned pending = 0;
  const auto code = static_cast<NvmlCode>(api_->mig_mode(device, &current, &pending));
  return {code, current != 0};
}

std::vector<NvmlDevice> Nvml::mig_devices(NvmlDevice device) const {
  std::vector<NvmlDevice> devices;
  const auto count = ask<unsigned>(api_->mig_count, device);
  if (!count.ok()) return devices;
  for (unsigned i = 0; i < std::min(count.value, kMostInstances); ++i) {
    const auto instance = ask<NvmlDevice>(api_->mig_handle, device, i);
    if (instance.ok()) devices.push_back(instance.value);
  }
  return devices;
}

NvmlReading<std::vector<NvmlProcess>> Nvml::processes(NvmlDevice device) const {
  NvmlReading<std::vector<NvmlProcess>> reading;
  reading.code = NvmlCode::function_not_found;
  if (api_->processes_v2 != nullptr) {
    reading.code = list<NvmlProcessV2>(api_->processes_v2, device, reading.value);
  } else if (api_->processes_v1 != nullptr) {
    reading.code = list<NvmlProcessV1>(api_->processes_v1, device, reading.value);
  }
  if (reading.ok() && api_->mps_processes != nullptr) {
    list<NvmlProcessV2>(api_->mps_processes, device, reading.value);
  }
  return reading;
}

}  // namespace fathom::monitor

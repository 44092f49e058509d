// A fake libnvidia-ml.so.1: two GPUs whose answers a script decides. For tests only.
//
// FATHOM_NVML_SCRIPT holds words, separated by blanks:
//   no-driver         nvmlInit fails: the driver is not loaded
//   no-permission     so do the calls that list processes
//   no-energy         no counter of energy (older than Volta)
//   energy-rises      the counters of energy do, by 400 W
//   no-pcie-count     PCIe bytes are not counted, only rates
//   mig               GPU 0 is in MIG mode: no utilisation, one instance
//   lost=N            GPU 1 is lost after N calls for its power
//   gpus=N            so many GPUs
//   zero-uuid         GPU 0 is the one of the fake driver (tests/programs/fake_driver.cc)
//   driver=535.54     the driver's version begins so; 535.43 to 535.86 have longer rows
//   processes=N       so many use GPU 0, our own first
//   stuck             calls for the power of GPU 0 do not return before the test ends
// Built without symbols newer than 2019 where FATHOM_NVML_OLD is defined.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include <unistd.h>

#include "monitor/nvml_api.h"

// nvml.h dictates these names.
// NOLINTBEGIN(readability-identifier-naming)

using fathom::monitor::NvmlDevice;
using fathom::monitor::NvmlFieldValue;
using fathom::monitor::NvmlMemoryV1;
using fathom::monitor::NvmlMemoryV2;
using fathom::monitor::NvmlProcessV1;
using fathom::monitor::NvmlProcessV2;
using fathom::monitor::NvmlReturn;
using fathom::monitor::NvmlUtilizationV1;

namespace {

constexpr NvmlReturn kOk = 0;
constexpr NvmlReturn kInvalid = 2;
constexpr NvmlReturn kUnsupported = 3;
constexpr NvmlReturn kNoPermission = 4;
[[maybe_unused]] constexpr NvmlReturn kNotFound = 6;  // of newer drivers
constexpr NvmlReturn kTooSmall = 7;
constexpr NvmlReturn kNoDriver = 9;
constexpr NvmlReturn kLost = 15;

std::string script() {
  const char* const text = std::getenv("FATHOM_NVML_SCRIPT");
  return std::string(" ") + (text == nullptr ? "" : text) + " ";
}

bool says(const std::string& word) { return script().find(" " + word + " ") != std::string::npos; }

/// The number of "word=N", or `otherwise`.
int number(const std::string& word, int otherwise) {
  const std::string text = script();
  const std::size_t at = text.find(" " + word + "=");
  return at == std::string::npos ? otherwise : std::atoi(text.c_str() + at + word.size() + 2);
}

std::string driver() {
  const std::string text = script();
  const std::string_view word = " driver=";
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return "550.54.15";
  const std::size_t begin = at + word.size();
  return text.substr(begin, text.find(' ', begin) - begin) + ".15";
}

/// As the third version of the list has them where the driver is one of a few.
struct LongerRow {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance;
  unsigned compute_instance;
  unsigned long long used_protected;
};
static_assert(sizeof(LongerRow) == 32 && sizeof(NvmlProcessV2) == 24);

/// Handles are 1, 2, …; instances of MIG 101, 102, ….
std::size_t id(NvmlDevice device);
bool first(NvmlDevice device) { return id(device) == 1; }

/// Calls for the power of GPU 1 since the library was initialised.
std::atomic<int>& power_calls() {
  static std::atomic<int> calls = 0;
  return calls;
}

/// The handle of that number: any pointer will do.
NvmlDevice handle(std::size_t number) {
  static std::array<char, 128> places{};
  return reinterpret_cast<NvmlDevice>(&places.at(number));
}

std::size_t id(NvmlDevice device) {
  return static_cast<std::size_t>(reinterpret_cast<const char*>(device) -
                                  reinterpret_cast<const char*>(handle(0)));
}

bool lost(NvmlDevice device) { return id(device) == 2 && power_calls() > number("lost", 1 << 30); }

NvmlReturn text(const std::string& from, char* to, unsigned size) {
  if (from.size() + 1 > size) return kTooSmall;
  std::memcpy(to, from.c_str(), from.size() + 1);
  return kOk;
}

template <typename Row>
NvmlReturn list(NvmlDevice device, unsigned* count, Row* rows) {
  if (says("no-permission")) return kNoPermission;
  const unsigned there = first(device) ? static_cast<unsigned>(number("processes", 2)) : 0;
  const unsigned room = *count;
  *count = there;
  if (room < there) return kTooSmall;
  for (unsigned i = 0; i < there; ++i) {
    rows[i] = Row{};
    rows[i].pid = static_cast<unsigned>(i == 0 ? ::getpid() : number("neighbour", ::getppid()));
    rows[i].used = (i == 0 ? 1ULL : 2ULL) << 30U;
  }
  return kOk;
}

}  // namespace

extern "C" {

NvmlReturn nvmlInit_v2() {
  power_calls() = 0;
  return says("no-driver") ? kNoDriver : kOk;
}
NvmlReturn nvmlShutdown() { return kOk; }
NvmlReturn nvmlSystemGetDriverVersion(char* to, unsigned size) { return text(driver(), to, size); }
NvmlReturn nvmlSystemGetCudaDriverVersion(int* version) {
  *version = 12040;
  return kOk;
}
NvmlReturn nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(number("gpus", 2));
  return kOk;
}
NvmlReturn nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlDevice* device) {
  if (index >= static_cast<unsigned>(number("gpus", 2))) return kInvalid;
  *device = handle(std::size_t{index} + 1);
  return kOk;
}
NvmlReturn nvmlDeviceGetName(NvmlDevice device, char* to, unsigned size) {
  return text(id(device) > 100 ? "NVIDIA Fake MIG 1g.10gb" : "NVIDIA Fake", to, size);
}
NvmlReturn nvmlDeviceGetUUID(NvmlDevice device, char* to, unsigned size) {
  if (says("zero-uuid") && first(device))
    return text("GPU-00000000-0000-0000-0000-000000000000", to, size);
  return text("GPU-fake-" + std::to_string(id(device)), to, size);
}
NvmlReturn nvmlDeviceGetMemoryInfo(NvmlDevice device, NvmlMemoryV1* memory) {
  if (lost(device)) return kLost;
  *memory = {80ULL << 30U, 70ULL << 30U, 10ULL << 30U};
  return kOk;
}
NvmlReturn nvmlDeviceGetUtilizationRates(NvmlDevice device, NvmlUtilizationV1* use) {
  if (lost(device)) return kLost;
  if (first(device) && says("mig")) return kUnsupported;
  *use = {first(device) ? 90U : 5U, 40};
  return kOk;
}
NvmlReturn nvmlDeviceGetPowerUsage(NvmlDevice device, unsigned* milliwatts) {
  while (first(device) && says("stuck")) std::this_thread::sleep_for(std::chrono::seconds(1));
  if (id(device) == 2) ++power_calls();
  if (lost(device)) return kLost;
  *milliwatts = first(device) ? 300'000 : 60'000;
  return kOk;
}
NvmlReturn nvmlDeviceGetEnforcedPowerLimit(NvmlDevice /*device*/, unsigned* milliwatts) {
  *milliwatts = 400'000;
  return kOk;
}
NvmlReturn nvmlDeviceGetTotalEnergyConsumption(NvmlDevice device, unsigned long long* millijoules) {
  if (says("no-energy")) return kUnsupported;
  *millijoules = 1'000'000ULL * id(device);
  if (says("energy-rises")) {
    const auto running = std::chrono::steady_clock::now().time_since_epoch();
    *millijoules += static_cast<unsigned long long>(
        400 * std::chrono::duration<double, std::milli>(running).count());
  }
  return kOk;
}
NvmlReturn nvmlDeviceGetClockInfo(NvmlDevice /*device*/, int which, unsigned* mhz) {
  *mhz = which == 1 ? 1200 : 1593;
  return kOk;
}
NvmlReturn nvmlDeviceGetMaxClockInfo(NvmlDevice /*device*/, int which, unsigned* mhz) {
  *mhz = which == 1 ? 1410 : 1593;
  return kOk;
}
NvmlReturn nvmlDeviceGetTemperature(NvmlDevice /*device*/, int /*sensor*/, unsigned* degrees) {
  *degrees = 84;
  return kOk;
}
NvmlReturn nvmlDeviceGetPerformanceState(NvmlDevice /*device*/, int* state) {
  *state = 0;
  return kOk;
}
NvmlReturn nvmlDeviceGetPcieThroughput(NvmlDevice /*device*/, int which, unsigned* kilobytes) {
  *kilobytes = which == 0 ? 1000 : 2000;
  return kOk;
}
NvmlReturn nvmlDeviceGetCurrPcieLinkGeneration(NvmlDevice /*device*/, unsigned* generation) {
  *generation = 4;
  return kOk;
}
NvmlReturn nvmlDeviceGetCurrPcieLinkWidth(NvmlDevice /*device*/, unsigned* width) {
  *width = 16;
  return kOk;
}
NvmlReturn nvmlDeviceGetTotalEccErrors(NvmlDevice /*device*/, int kind, int /*since*/,
                                       unsigned long long* errors) {
  *errors = kind == 0 ? 3 : 0;
  return kOk;
}
NvmlReturn nvmlDeviceGetEccMode(NvmlDevice /*device*/, int* current, int* pending) {
  *current = *pending = 1;
  return kOk;
}
NvmlReturn nvmlDeviceGetPersistenceMode(NvmlDevice /*device*/, int* mode) {
  *mode = 1;
  return kOk;
}

#ifdef FATHOM_NVML_OLD

NvmlReturn nvmlDeviceGetCurrentClocksThrottleReasons(NvmlDevice /*device*/,
                                                     unsigned long long* reasons) {
  *reasons = 0x4;
  return kOk;
}
NvmlReturn nvmlDeviceGetComputeRunningProcesses(NvmlDevice device, unsigned* count,
                                                NvmlProcessV1* rows) {
  return list(device, count, rows);
}

#else

NvmlReturn nvmlDeviceGetMemoryInfo_v2(NvmlDevice device, NvmlMemoryV2* memory) {
  if (lost(device)) return kLost;
  if (memory->version != fathom::monitor::kNvmlMemoryV2) return kInvalid;
  memory->total = 80ULL << 30U;
  memory->reserved = 1ULL << 30U;
  memory->free = 70ULL << 30U;
  memory->used = 9ULL << 30U;
  return kOk;
}
NvmlReturn nvmlDeviceGetCurrentClocksEventReasons(NvmlDevice /*device*/,
                                                  unsigned long long* reasons) {
  *reasons = 0x20 | 0x4;
  return kOk;
}
NvmlReturn nvmlDeviceGetFieldValues(NvmlDevice device, int count, NvmlFieldValue* values) {
  for (int i = 0; i < count; ++i) {
    values[i].code = says("no-pcie-count") ? kUnsupported : kOk;
    values[i].type = fathom::monitor::kNvmlUnsigned;
    values[i].value.natural = static_cast<unsigned>(id(device)) * 1000 + values[i].field;
  }
  return kOk;
}
NvmlReturn nvmlDeviceGetComputeRunningProcesses_v3(NvmlDevice device, unsigned* count,
                                                   NvmlProcessV2* rows) {
  const std::string version = driver();
  if (version < "535.43" || version >= "535.87") return list(device, count, rows);
  return list(device, count, reinterpret_cast<LongerRow*>(rows));
}
NvmlReturn nvmlDeviceGetComputeRunningProcesses_v2(NvmlDevice device, unsigned* count,
                                                   NvmlProcessV2* rows) {
  return list(device, count, rows);
}
NvmlReturn nvmlDeviceGetMigMode(NvmlDevice device, unsigned* current, unsigned* pending) {
  *current = *pending = first(device) && says("mig") ? 1 : 0;
  return kOk;
}
NvmlReturn nvmlDeviceGetMaxMigDeviceCount(NvmlDevice /*device*/, unsigned* count) {
  *count = 7;
  return kOk;
}
NvmlReturn nvmlDeviceGetMigDeviceHandleByIndex(NvmlDevice /*device*/, unsigned index,
                                               NvmlDevice* instance) {
  if (index > 0) return kNotFound;
  *instance = handle(101);
  return kOk;
}

#endif

}  // extern "C"

// NOLINTEND(readability-identifier-naming)

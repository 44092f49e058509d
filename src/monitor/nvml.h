// Nvml: NVIDIA's management library, opened at run time, without its header.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom::monitor {

/// nvmlReturn_t, as nvml.h numbers it; only what we distinguish.
enum class NvmlCode : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  insufficient_size = 7,
  driver_not_loaded = 9,
  timeout = 10,
  library_not_found = 12,
  function_not_found = 13,  ///< Also: the library is too old to have it.
  gpu_is_lost = 15,
  reset_required = 16,
  version_mismatch = 18,
  unknown = 999,
};
/// For the user: "not supported by this GPU or driver".
std::string why(NvmlCode code);
/// What would help; "" where nothing would.
std::string remedy(NvmlCode code);

/// A value, or why there is none.
template <typename T>
struct NvmlReading {
  NvmlCode code = NvmlCode::unknown;
  T value{};
  [[nodiscard]] bool ok() const { return code == NvmlCode::success; }
};

/// A process that holds memory of a GPU.
struct NvmlProcess {
  std::uint32_t pid = 0;
  std::optional<std::uint64_t> memory_bytes;  ///< Unset where the driver does not report it.
};

/// nvmlDevice_t: opaque.
using NvmlDevice = struct nvmlDevice_st*;  // NOLINT(readability-identifier-naming)

enum class NvmlClock : int { sm = 1, memory = 2 };

struct NvmlMemory {
  std::uint64_t total = 0;
  std::uint64_t used = 0;  ///< Without what the driver keeps for itself, where that is reported.
};

struct NvmlApi;

/// The library, initialised. Safe to use from several threads, as NVML is. Functions that the
/// library lacks answer function_not_found.
class Nvml {
 public:
  /// An empty path: where the loader finds libnvidia-ml.so.1. Errors: not_found (no library),
  /// unsupported (no driver, no permission, versions that differ).
  static Result<std::shared_ptr<Nvml>> open(const std::string& path);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] NvmlReading<std::string> driver_version() const;
  /// 12040 is 12.4.
  [[nodiscard]] NvmlReading<int> cuda_version() const;
  [[nodiscard]] NvmlReading<unsigned> device_count() const;
  [[nodiscard]] NvmlReading<NvmlDevice> device(unsigned index) const;

  [[nodiscard]] NvmlReading<std::string> name(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<std::string> uuid(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<NvmlMemory> memory(NvmlDevice device) const;
  /// Percent.
  [[nodiscard]] NvmlReading<unsigned> utilization(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<unsigned> memory_utilization(NvmlDevice device) const;
  /// Milliwatts.
  [[nodiscard]] NvmlReading<unsigned> power(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<unsigned> power_limit(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<unsigned> default_power_limit(NvmlDevice device) const;
  /// Millijoules since the driver was loaded.
  [[nodiscard]] NvmlReading<unsigned long long> energy(NvmlDevice device) const;
  /// MHz.
  [[nodiscard]] NvmlReading<unsigned> clock(NvmlDevice device, NvmlClock which) const;
  [[nodiscard]] NvmlReading<unsigned> max_clock(NvmlDevice device, NvmlClock which) const;
  /// Degrees Celsius.
  [[nodiscard]] NvmlReading<unsigned> temperature(NvmlDevice device) const;
  /// Bits, nvmlClocksEventReasons.
  [[nodiscard]] NvmlReading<unsigned long long> clock_reasons(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<int> performance_state(NvmlDevice device) const;
  /// KB/s over 20 ms, which the call takes.
  [[nodiscard]] NvmlReading<unsigned> pcie_send_rate(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<unsigned> pcie_receive_rate(NvmlDevice device) const;
  /// Bytes since some beginning.
  [[nodiscard]] NvmlReading<unsigned long long> pcie_sent(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<unsigned long long> pcie_received(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<unsigned> pcie_generation(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<unsigned> pcie_width(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<unsigned> max_pcie_generation(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<unsigned> max_pcie_width(NvmlDevice device) const;
  /// Memory errors since the driver was loaded.
  [[nodiscard]] NvmlReading<unsigned long long> ecc_corrected(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<unsigned long long> ecc_uncorrected(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<bool> ecc_enabled(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<bool> persistence(NvmlDevice device) const;
  [[nodiscard]] NvmlReading<bool> mig_enabled(NvmlDevice device) const;
  /// The instances of a device in MIG mode.
  [[nodiscard]] std::vector<NvmlDevice> mig_devices(NvmlDevice device) const;
  /// Processes that compute on it, those behind an MPS server too. Pids are those of the driver's
  /// namespace: the host's.
  [[nodiscard]] NvmlReading<std::vector<NvmlProcess>> processes(NvmlDevice device) const;

 private:
  Nvml(void* library, std::unique_ptr<NvmlApi> api);
  void* library_;
  std::unique_ptr<NvmlApi> api_;
};

}  // namespace fathom::monitor

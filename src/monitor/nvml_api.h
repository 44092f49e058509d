// What we call of NVML: prototypes and structures as nvml.h of CUDA 13 has them, with the older
// versions that drivers in use still have. Shared with the library that stands in for it in tests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::monitor {

using NvmlReturn = int;
using NvmlDevice = struct nvmlDevice_st*;  // NOLINT(readability-identifier-naming)

struct NvmlUtilizationV1 {
  unsigned gpu;
  unsigned memory;
};
struct NvmlMemoryV1 {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct NvmlMemoryV2 {
  unsigned version;  ///< kNvmlMemoryV2
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
inline constexpr unsigned kNvmlMemoryV2 = sizeof(NvmlMemoryV2) | 2U << 24U;
static_assert(kNvmlMemoryV2 == 0x02000028);

struct NvmlProcessV1 {
  unsigned pid;
  unsigned long long used;
};
struct NvmlProcessV2 {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance;
  unsigned compute_instance;
};
/// `used` where the driver does not report it.
inline constexpr unsigned long long kNvmlNotAvailable = ~0ULL;

struct NvmlFieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  int type;
  NvmlReturn code;
  union {
    double real;
    unsigned natural;
    unsigned long natural_long;
    unsigned long long natural_long_long;
    long long signed_long_long;
    int integer;
    unsigned short natural_short;
  } value;
};
static_assert(sizeof(NvmlFieldValue) == 40);
inline constexpr unsigned kNvmlPcieSentBytes = 197;
inline constexpr unsigned kNvmlPcieReceivedBytes = 198;
/// nvmlValueType_t.
inline constexpr int kNvmlReal = 0;
inline constexpr int kNvmlUnsigned = 1;

inline constexpr unsigned kNvmlTextBytes = 96;

/// Null where the library lacks a function in every version that we know.
struct NvmlApi {
  NvmlReturn (*init)() = nullptr;
  NvmlReturn (*shutdown)() = nullptr;
  NvmlReturn (*driver_version)(char*, unsigned) = nullptr;
  NvmlReturn (*cuda_version)(int*) = nullptr;
  NvmlReturn (*count)(unsigned*) = nullptr;
  NvmlReturn (*handle)(unsigned, NvmlDevice*) = nullptr;
  NvmlReturn (*name)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlReturn (*uuid)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlReturn (*memory_v1)(NvmlDevice, NvmlMemoryV1*) = nullptr;
  NvmlReturn (*memory_v2)(NvmlDevice, NvmlMemoryV2*) = nullptr;
  NvmlReturn (*utilization)(NvmlDevice, NvmlUtilizationV1*) = nullptr;
  NvmlReturn (*power)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*power_limit)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*default_power_limit)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*energy)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlReturn (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlReturn (*max_clock)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlReturn (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlReturn (*clock_reasons)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlReturn (*performance_state)(NvmlDevice, int*) = nullptr;
  NvmlReturn (*pcie_rate)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlReturn (*fields)(NvmlDevice, int, NvmlFieldValue*) = nullptr;
  NvmlReturn (*pcie_generation)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*pcie_width)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*max_pcie_generation)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*max_pcie_width)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*ecc_errors)(NvmlDevice, int, int, unsigned long long*) = nullptr;
  NvmlReturn (*ecc_mode)(NvmlDevice, int*, int*) = nullptr;
  NvmlReturn (*persistence)(NvmlDevice, int*) = nullptr;
  NvmlReturn (*mig_mode)(NvmlDevice, unsigned*, unsigned*) = nullptr;
  NvmlReturn (*mig_count)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*mig_handle)(NvmlDevice, unsigned, NvmlDevice*) = nullptr;
  NvmlReturn (*processes_v1)(NvmlDevice, unsigned*, NvmlProcessV1*) = nullptr;
  NvmlReturn (*processes_v2)(NvmlDevice, unsigned*, NvmlProcessV2*) = nullptr;
  NvmlReturn (*mps_processes)(NvmlDevice, unsigned*, NvmlProcessV2*) = nullptr;
};

}  // namespace fathom::monitor

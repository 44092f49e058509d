// Peaks of devices, as data with the source of each number.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "store/trace.h"

namespace fathom {

/// What numbers are made of, for peaks and costs.
enum class NumberType : std::uint8_t {
  unknown,
  fp64,
  fp32,
  tf32,
  fp16,
  bf16,
  fp8,
  fp4,
  int8,
  other
};
std::string_view to_string(NumberType type);
/// Bytes per element of torch's spelling ("float", "c10::BFloat16", "long int"); 0 when unknown.
std::int64_t element_bytes(std::string_view torch_type);
NumberType number_type(std::string_view torch_type);

/// Dense peaks without sparsity, in FLOP/s (int8: OP/s); 0 where the device has no such unit.
struct DeviceSpec {
  std::string_view name;  ///< As people call it: "A100 80GB SXM".
  double fp64 = 0, fp64_matrix = 0, fp32 = 0, fp16 = 0, bf16 = 0;
  double tf32_matrix = 0, fp16_matrix = 0, bf16_matrix = 0, fp8_matrix = 0, fp4_matrix = 0,
         int8_matrix = 0;
  double bandwidth = 0;       ///< Bytes/s of device memory.
  std::int64_t memory = 0;    ///< Bytes.
  std::int64_t l2 = 0;        ///< Bytes.
  std::int32_t sms = 0;       ///< Multiprocessors or compute units.
  double pcie_bandwidth = 0;  ///< Bytes/s to the host, one direction.
  std::string_view source;    ///< Where the numbers are published.
  /// Peak for work of that type; `matrix`: on tensor cores.
  [[nodiscard]] double peak(NumberType type, bool matrix) const;
};

std::span<const DeviceSpec> all_device_specs();
/// The spec of a recorded device: by name, multiprocessors and memory; nullptr when not known.
const DeviceSpec* find_device_spec(const Device& device);

}  // namespace fathom

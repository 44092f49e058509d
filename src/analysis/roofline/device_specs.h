// Peaks of devices, as data with the source of each number.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analysis/roofline/number_type.h"
#include "store/trace.h"

namespace fathom {

/// Dense peaks without sparsity, in FLOP/s (int8: OP/s), at boost clock and with sums in single
/// precision; 0 where the device has no such unit or its maker states no number.
struct DeviceSpec {
  std::string_view name;   ///< As people call it: "A100 SXM 80GB".
  std::string_view match;  ///< Words that a recorded name holds, all of them: "a100 sxm".
  double fp64 = 0, fp64_matrix = 0, fp32 = 0, fp32_matrix = 0, fp16 = 0, bf16 = 0;
  double tf32_matrix = 0, fp16_matrix = 0, bf16_matrix = 0, fp8_matrix = 0, fp4_matrix = 0,
         int8_matrix = 0;
  double bandwidth = 0;       ///< Bytes/s of device memory.
  std::int64_t memory = 0;    ///< Bytes.
  std::int64_t l2 = 0;        ///< Bytes of the last cache that all multiprocessors share.
  double l2_bandwidth = 0;    ///< Bytes/s read from it; 0 where not published.
  std::int32_t sms = 0;       ///< Multiprocessors or compute units.
  double pcie_bandwidth = 0;  ///< Bytes/s to the host, one direction.
  std::string_view source{};  ///< Where the numbers are published.

  /// Peak for arithmetic of that type; `matrix`: on tensor cores or their kin, as far as it has
  /// them for the type. fp32 work stays fp32 unless asked for as tf32.
  [[nodiscard]] double peak(NumberType type, bool matrix) const;
};

/// All that are known: accelerators of data centres by maker and age, then boards.
std::span<const DeviceSpec> all_device_specs();

/// The spec of a recorded device among `specs`: whose words its name holds, the most words first,
/// then the nearest memory; a device without a name by multiprocessors and memory alone. nullptr
/// when there is none.
const DeviceSpec* find_device_spec(std::span<const DeviceSpec> specs, const Device& device);

/// The spec that a person calls by that name, in any case: its whole name, or words that only one
/// spec's name holds. nullptr when there is none, or several.
const DeviceSpec* device_spec_named(std::span<const DeviceSpec> specs, std::string_view name);

}  // namespace fathom

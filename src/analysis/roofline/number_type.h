// What numbers are made of: torch's spelling of types, their sizes.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom {

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
  other,  ///< Known, but not a type that devices have a peak for: bool, int64, complex.
};
inline constexpr std::size_t kNumberTypes = static_cast<std::size_t>(NumberType::other) + 1;
std::string_view to_string(NumberType type);

/// Of torch's spelling: "float", "c10::BFloat16", "long int"; also of kernels' template arguments.
NumberType number_type(std::string_view torch_type);
/// Bytes per element of torch's spelling; 0 when it is not the type of a tensor.
std::int64_t element_bytes(std::string_view torch_type);

}  // namespace fathom

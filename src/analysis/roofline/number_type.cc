// The table of torch's type names, with size and kind of number.
#include "analysis/roofline/number_type.h"

#include <algorithm>
#include <array>

namespace fathom {
namespace {

struct TorchType {
  std::string_view name;
  NumberType type;
  std::int64_t bytes;
};

/// As ScalarType names and as C++ spells them in signatures, by name.
constexpr std::array kTypes = std::to_array<TorchType>({
    {"BFloat16", NumberType::bf16, 2},        {"Float4_e2m1fn_x2", NumberType::fp4, 1},
    {"Float8_e4m3fn", NumberType::fp8, 1},    {"Float8_e4m3fnuz", NumberType::fp8, 1},
    {"Float8_e5m2", NumberType::fp8, 1},      {"Float8_e5m2fnuz", NumberType::fp8, 1},
    {"Float8_e8m0fnu", NumberType::fp8, 1},   {"Half", NumberType::fp16, 2},
    {"__half", NumberType::fp16, 2},          {"__nv_bfloat16", NumberType::bf16, 2},
    {"bool", NumberType::other, 1},           {"complex<double>", NumberType::other, 16},
    {"complex<float>", NumberType::other, 8}, {"double", NumberType::fp64, 8},
    {"float", NumberType::fp32, 4},           {"int", NumberType::other, 4},
    {"long", NumberType::other, 8},           {"long int", NumberType::other, 8},
    {"qint8", NumberType::int8, 1},           {"short", NumberType::other, 2},
    {"short int", NumberType::other, 2},      {"signed char", NumberType::int8, 1},
    {"unsigned char", NumberType::int8, 1},   {"unsigned int", NumberType::other, 4},
    {"unsigned long", NumberType::other, 8},  {"unsigned short", NumberType::other, 2},
});
static_assert(std::ranges::is_sorted(kTypes, {}, &TorchType::name));

const TorchType* find(std::string_view name) {
  if (name.starts_with("c10::")) name.remove_prefix(5);
  const auto at = std::ranges::lower_bound(kTypes, name, {}, &TorchType::name);
  return at != kTypes.end() && at->name == name ? &*at : nullptr;
}

}  // namespace

std::string_view to_string(NumberType type) {
  constexpr std::array<std::string_view, kNumberTypes> kNames = {
      "unknown", "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8", "other"};
  static_assert(kNames.back() == "other", "one name for each NumberType, in its order");
  return kNames[static_cast<std::size_t>(type)];
}

NumberType number_type(std::string_view torch_type) {
  const TorchType* const found = find(torch_type);
  return found == nullptr ? NumberType::unknown : found->type;
}

std::int64_t element_bytes(std::string_view torch_type) {
  const TorchType* const found = find(torch_type);
  return found == nullptr ? 0 : found->bytes;
}

}  // namespace fathom

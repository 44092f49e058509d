// The words of kernel names that stand for types.
#include "analysis/roofline/kernel_type.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "analysis/util/needle_set.h"

namespace fathom {
namespace {

struct TypeWord {
  std::string_view text;  ///< In small letters.
  NumberType type;
};

// The first that occurs decides.
constexpr auto kWords = std::to_array<TypeWord>({
    {"e4m3", NumberType::fp8},     {"e5m2", NumberType::fp8},
    {"float8", NumberType::fp8},   {"float_e4", NumberType::fp8},
    {"float_e5", NumberType::fp8}, {"fp8", NumberType::fp8},
    {"mxfp", NumberType::fp8},     {"int8", NumberType::int8},
    {"_i8", NumberType::int8},     {"_s8_", NumberType::int8},
    {"imma", NumberType::int8},    {"signed char", NumberType::int8},
    {"bf16", NumberType::bf16},    {"bfloat16", NumberType::bf16},
    {"half", NumberType::fp16},    {"fp16", NumberType::fp16},
    {"f16f16", NumberType::fp16},  {"_f16", NumberType::fp16},
    {"hgemm", NumberType::fp16},   {"cgemm", NumberType::other},
    {"zgemm", NumberType::other},  {"complex", NumberType::other},
    {"dgemm", NumberType::fp64},   {"double", NumberType::fp64},
    {"f64", NumberType::fp64},     {"sgemm", NumberType::fp32},
    {"scudnn", NumberType::fp32},  {"f32", NumberType::fp32},
    {"fp32", NumberType::fp32},    {"ffma", NumberType::fp32},
    {"float", NumberType::fp32},
});

}  // namespace

NumberType type_of_kernel(std::string_view name) {
  static const NeedleSet needles = [] {
    std::array<std::string_view, kWords.size()> texts;
    std::ranges::transform(kWords, texts.begin(), &TypeWord::text);
    return NeedleSet(texts);
  }();
  std::size_t first = kWords.size();
  needles.scan(name, [&](std::uint32_t word) { first = std::min<std::size_t>(first, word); });
  return first == kWords.size() ? NumberType::unknown : kWords[first].type;
}

}  // namespace fathom

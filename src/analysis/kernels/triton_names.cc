// Reads TorchInductor's kernel names: torch/_inductor/codegen/triton.py builds them from the fused
// operators.
#include "analysis/kernels/triton_names.h"

#include <algorithm>
#include <array>

namespace fathom {
namespace {

constexpr std::string_view kPrefix = "triton_";

bool has(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> pieces) {
  return std::ranges::any_of(pieces, [text](std::string_view piece) { return has(text, piece); });
}

/// Operators that move or view data and compute nothing; longer names first where one starts
/// another.
constexpr std::array<std::string_view, 26> kMovers = {
    "_unsafe_view", "_to_copy", "clone",   "contiguous", "copy_",      "copy",
    "cat",          "stack",    "permute", "transpose",  "view",       "reshape",
    "unsqueeze",    "squeeze",  "expand",  "slice",      "select",     "split",
    "chunk",        "unbind",   "repeat",  "flatten",    "as_strided", "constant_pad_nd",
    "roll",         "t"};

/// "_to_copy_view_3": nothing but movers and a number.
bool only_moves(std::string_view operators) {
  bool any = false;
  while (!operators.empty()) {
    const auto starts = [operators](std::string_view mover) {
      return operators.starts_with(mover);
    };
    const auto* const mover = std::ranges::find_if(kMovers, starts);
    if (mover != kMovers.end()) {
      operators.remove_prefix(mover->size());
      any = true;
    } else if (operators.front() == '_' || (operators.front() >= '0' && operators.front() <= '9')) {
      operators.remove_prefix(1);
    } else {
      return false;
    }
  }
  return any;
}

KernelClass of_template(std::string_view name) {
  if (has_any(name, {"attention", "flex", "sdpa"})) return KernelClass::attention;
  return has(name, "conv") ? KernelClass::conv : KernelClass::gemm;
}

}  // namespace

bool is_inductor_name(std::string_view name) {
  return name.starts_with(kPrefix) && !name.starts_with("triton__");
}

KernelClass classify_inductor_kernel(std::string_view name) {
  name.remove_prefix(kPrefix.size());
  if (name.starts_with("tem_") || name.starts_with("mm") || name.starts_with("bmm"))
    return of_template(name);
  if (name.starts_with("for_"))
    return KernelClass::optimizer;  // one loop over the tensors of a foreach
  const bool reduces =
      name.starts_with("red_") || name.starts_with("per_") || name.starts_with("mix_");
  if (has(name, "softmax")) return KernelClass::softmax;
  const bool decomposed_norm = has(name, "rsqrt") && has_any(name, {"mean", "var", "pow", "sum"});
  if (has_any(name, {"layer_norm", "batch_norm", "group_norm", "rms_norm"}) ||
      (reduces && decomposed_norm)) {
    return KernelClass::normalisation;
  }
  if (reduces) return KernelClass::reduction;
  if (!name.starts_with("poi_")) return KernelClass::other;
  if (has_any(name, {"embedding", "index", "fused_gather", "fused_scatter"}))
    return KernelClass::embedding;
  const std::size_t fused = name.find("fused_");
  const bool moves = fused != std::string_view::npos && only_moves(name.substr(fused + 6));
  return moves ? KernelClass::copy_like : KernelClass::elementwise;
}

}  // namespace fathom

// Floating-point operations of an operator by torch's own formulas, from recorded shapes and
// arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/structure/torch_names.h"

namespace fathom {

/// torch/csrc/profiler/util.cpp, computeFlops(): unsigned 64-bit arithmetic, 0 where torch gives
/// up. `shapes`, `types` and `concrete` are the JSON texts of a Signature; nothing when the shapes
/// (or for a convolution the arguments) were not recorded. `formula` is not none.
std::optional<std::uint64_t> torch_flops(FlopsFormula formula, std::string_view shapes,
                                         std::string_view types, std::string_view concrete);

}  // namespace fathom

// Floating-point operations and least bytes of an operator, from its recorded shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/device_specs.h"

namespace fathom {

/// What one call of an operator has to do at least.
struct OpCost {
  double flops = 0;                       ///< A multiply-add is two.
  double bytes = 0;                       ///< Each input read once, each output written once.
  NumberType type = NumberType::unknown;  ///< Of the arithmetic.
  bool matrix = false;                    ///< Matrix units can do it, where the type allows.
};

/// Torch's recorded texts: "Input Dims", "Input type", "Input Strides", "Concrete Inputs" as
/// canonical JSON. Nothing for operators without a formula, or whose arguments were not recorded.
std::optional<OpCost> op_cost(std::string_view name, std::string_view shapes,
                              std::string_view types, std::string_view strides,
                              std::string_view concrete);

}  // namespace fathom

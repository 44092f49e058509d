// Floating-point operations and least bytes of an operator, from its recorded shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/roofline/op_arguments.h"

namespace fathom {

/// What one call of an operator has to do at least.
struct OpCost {
  double flops = 0;                       ///< A multiply-add is two; a function, such as exp, one.
  double bytes = 0;                       ///< Each input read once, each output written once.
  NumberType type = NumberType::unknown;  ///< Of the arithmetic.
  bool matrix = false;                    ///< Matrix units can do it, where the type allows.
  bool flops_known = true;  ///< False for generated code, whose arithmetic is not recorded.
  friend bool operator==(const OpCost&, const OpCost&) = default;
};

/// What a formula needs to know about one of many similar operators.
struct PerElement {
  int flops = 0;   ///< Per element of the output, or of the input of what reduces it.
  int inputs = 0;  ///< Tensors that are read.
};

/// How to price an operator.
struct OpFormula {
  std::optional<OpCost> (*cost)(const OpArguments&, PerElement) = nullptr;
  PerElement per{};
  /// All that runs inside such an operator is part of it: a convolution's changes of layout, the
  /// products and the softmax of an attention.
  bool whole = false;

  explicit operator bool() const { return cost != nullptr; }
  /// Nothing where an argument that it needs was not recorded.
  [[nodiscard]] std::optional<OpCost> operator()(const OpArguments& arguments) const {
    return cost(arguments, per);
  }
};

/// The formula of an operator by its name, or an empty one. An operator in place ("add_") has the
/// formula of the other. O(log n).
OpFormula op_formula(std::string_view name);

}  // namespace fathom

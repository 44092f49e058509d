// What an operator is and was called with, for rules that reckon with shapes.
#pragma once

#include <optional>
#include <string_view>

#include "analysis/roofline/op_arguments.h"
#include "rules/rule.h"
#include "store/trace.h"

namespace fathom {

/// Is it a matrix multiplication: mm, addmm, bmm, baddbmm?
bool is_product(std::string_view name);

/// The tensors that an operator was called with, where shapes and types were recorded; values are
/// left out.
std::optional<OpArguments> arguments_of(const Trace& trace, SliceId op);

}  // namespace fathom

// The Python stacks that torch's group_by_stack_n goes by.
#pragma once

#include <string>
#include <string_view>

#include "analysis/structure/torch_forest.h"
#include "analysis/structure/torch_names.h"
#include "store/column.h"
#include "store/trace.h"

namespace fathom {

/// Per slice: the recorded "Call stack" of an operator; for operators of the backward pass that of
/// their forward operator, as torch does it. Invalid where there is none.
Column<StringId> torch_stacks(const Trace& trace, const Nesting& nesting, const TorchForest& forest,
                              const TorchNames& names);

/// The innermost `depth` entries of a call stack text ("a;b;c", innermost first), without those
/// that torch hides, joined by ";".
std::string top_of_stack(std::string_view text, int depth);

}  // namespace fathom

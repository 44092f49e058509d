// What the rows of the operator table are divided by beside the name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/context.h"
#include "analysis/structure/torch_forest.h"
#include "store/column.h"

namespace fathom {

enum class OpGrouping : std::uint8_t { name, shape, stack, phase, module, place, thread };

/// A group per host slice.
struct OpGroups {
  Column<std::uint32_t> of;        ///< By slice row; empty: all slices are in group 0.
  std::vector<std::string> texts;  ///< By group. [0]: nothing recorded ("[]" for shapes, else "").

  [[nodiscard]] std::uint32_t operator[](SliceId slice) const {
    return of.empty() ? 0 : of[slice.row()];
  }
};

/// Divides the counted host slices. place: by "PHASE" or "PHASE: MODULE". stack: by the innermost
/// options.stack_depth (0: 5) entries of the recorded call stack, joined by ";".
OpGroups compute_op_groups(const Context& context, const TorchForest& forest,
                           const TorchNames& names, OpGrouping grouping);

}  // namespace fathom

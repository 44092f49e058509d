// Self times of operators: the two columns of the operator table that a first look needs.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/context.h"
#include "analysis/structure/torch_names.h"

namespace fathom {

struct OpSelfTime {
  std::string_view name{};  ///< As torch prints it. Lives as long as OpSelfTimes and the trace.
  Duration self{};
};

/// OpRow::device_self of the operator table's rows; in a trace without device time,
/// OpRow::host_self.
struct OpSelfTimes {
  bool on_device = false;
  std::vector<OpSelfTime> rows;  ///< In no order; rows without such time may be missing.
  Duration sum{};                ///< Over all rows: what percentages refer to.
  TorchNames names;              ///< Owns texts that rows refer to.
};

/// The same numbers as compute_op_table() by name, in a fraction of its time and memory.
OpSelfTimes compute_op_self_times(const Context& context);

}  // namespace fathom

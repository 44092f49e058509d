// The operator table: torch's key_averages() over a trace, device time by the links of this
// project.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/context.h"
#include "analysis/operators/op_groups.h"
#include "analysis/operators/operator_memory.h"
#include "analysis/structure/torch_names.h"
#include "store/trace.h"

namespace fathom {

enum class OpRowKind : std::uint8_t {
  host,               ///< Operators, runtime and driver calls, profiler overhead.
  annotation,         ///< Host annotations: torch keeps them apart from operators of the same name.
  device,             ///< A kernel, copy, fill or device wait by name; only in torch's table.
  device_annotation,  ///< gpu_user_annotation; only in torch's table.
  memory,             ///< "[memory]": allocator events inside no host event.
  no_operator,        ///< "(no operator)": activities whose launch lies in no operator.
  unattributed,       ///< "(unattributed)": activities whose launch is not in the trace.
};

/// Sums over the events of one row.
struct OpRow {
  std::string_view name{};  ///< As torch prints it. Lives as long as the OpTable and the trace.
  OpRowKind kind = OpRowKind::host;
  std::uint32_t group = 0;    ///< Row of OpTable::groups.
  SliceId first{};            ///< The first event by (start, -end), or invalid.
  bool asynchronous = false;  ///< Of the first event.
  std::int64_t calls = 0;     ///< Events; activities for the two rows without a host event.
  Duration host_total{};
  Duration host_self{};
  Duration device_total{};
  Duration device_self{};
  MemoryBytes memory{};
  MemoryBytes memory_self{};
  std::uint64_t flops = 0;
  bool flops_missing = false;  ///< Some event has a formula but not the shapes it needs.
};

struct OpTable {
  std::vector<OpRow> rows;  ///< In order of their first event; rows without a host event last.
  std::vector<std::string> groups;  ///< Texts of the groups; [0] is "no group".
  Duration host_self_sum{};         ///< Over all rows: what percentages of host self time refer to.
  Duration device_self_sum{};  ///< Selected device activity. torch's table: of the device rows.
  bool has_memory = false;     ///< The trace has allocator events.
  TorchNames names;            ///< Owns texts that rows refer to.
};

/// Whose rows and device sums the table has.
enum class OpRules : std::uint8_t {
  own,    ///< Host rows; device time by launch, each activity counted once in a column of a row.
  torch,  ///< torch's rows and torch's device sums, by External id.
};

/// Computes the table for the selection of `context`. By our own rules, Σ device_self over all rows
/// is the duration of all selected kernels, copies and fills.
OpTable compute_op_table(const Context& context, OpGrouping grouping, OpRules rules = OpRules::own);

}  // namespace fathom

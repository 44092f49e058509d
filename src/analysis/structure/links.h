// Which host call started each device activity, and which operator that call was made for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/structure/activity_column.h"
#include "analysis/structure/nesting.h"
#include "store/trace.h"

namespace fathom {

/// How an activity came to its operator.
enum class Attribution : std::uint8_t {
  none,         ///< Not a device activity.
  by_launch,    ///< Correlation id to its call, containment of the call in an operator.
  by_external,  ///< No call in the trace; External id, in a file where such ids proved trustworthy.
  no_operator,  ///< Its call is in the trace but inside no operator.
  unattributed,  ///< Its call is not in the trace.
};

/// What a runtime or driver call does, from its name, for CUDA, HIP and other vendors.
enum class CallKind : std::uint8_t {
  other,
  launch,         ///< Starts a kernel.
  graph_launch,   ///< Starts a graph.
  copy,           ///< Starts a copy, returns at once.
  copy_blocking,  ///< Starts a copy and waits for it.
  fill,           ///< Starts a memset.
  fill_blocking,
  synchronize,  ///< Waits: device, stream or event.
  allocate,     ///< cudaMalloc, cudaFree, cudaHostAlloc, …
};
CallKind classify_call(std::string_view name);

/// True for the kinds that put work onto a device.
constexpr bool starts_activity(CallKind kind) {
  return kind != CallKind::other && kind != CallKind::synchronize && kind != CallKind::allocate;
}

/// Columns indexed by slice row; meaningful for device activities (kernels, copies, fills).
struct Links {
  ActivityColumn<SliceId> launch;  ///< The runtime or driver call, or invalid.
  ActivityColumn<SliceId> op;      ///< The innermost operator (cpu_op), or invalid.
  ActivityColumn<Attribution> attribution;
  /// Graph activities: 1 for the first launch of their graph by its thread, 2 for the second, …;
  /// else 0.
  ActivityColumn<std::uint32_t> replay;
  std::vector<SliceId> activities;  ///< All device activities, by start time then file order.
  std::vector<CallKind>
      call_kinds;  ///< By StringId row; valid for names of runtime and driver calls.
  std::uint64_t kernel_launches = 0;  ///< Calls that start a kernel or a graph, recorded or not.
  std::uint64_t without_launch = 0;   ///< Activities whose call is not in the trace.
  std::uint64_t launches_without_activity =
      0;  ///< Launching calls (kernel, copy, fill, graph) with no activity.
  SliceId first_without_launch{};
  SliceId first_launch_without_activity{};
  /// Share of the activities with a launch and an External id whose External id names the operator
  /// that contains the launch. Looked at only when some activity lacks its launch; else 0.
  double external_agreement = 0;
  bool external_trusted = false;  ///< At least 99 % agree.

  /// What a runtime or driver call does. Only for slices of those kinds.
  [[nodiscard]] CallKind call_kind(const Trace& trace, SliceId call) const {
    return call_kinds[trace.slices.name[call.row()].row()];
  }
};

/// The part that needs no nesting: all but `op`, `attribution`, without_launch and external ids.
Links match_launches(const Trace& trace);
/// The rest, from containment.
void attribute_to_ops(const Trace& trace, const Nesting& nesting, Links& links);
/// Both.
Links compute_links(const Trace& trace, const Nesting& nesting);

/// The innermost operator (cpu_op) around a host-work slice, itself included, or invalid.
SliceId enclosing_op(const Trace& trace, const Nesting& nesting, SliceId slice);

}  // namespace fathom

// Which host call started each device activity, and which operator that call was made for.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/nesting.h"
#include "store/column.h"
#include "store/trace.h"

namespace fathom {

/// How an activity came to its operator.
enum class Attribution : std::uint8_t {
  none,          ///< Not a device activity.
  by_launch,     ///< Correlation id to its call, containment of the call in an operator.
  by_external,   ///< No call in the trace; External id, in a file where such ids proved trustworthy.
  no_operator,   ///< Its call is in the trace but inside no operator.
  unattributed,  ///< Its call is not in the trace.
};

/// Per slice columns; meaningful for device activities (kernels, copies, fills).
struct Links {
  Column<SliceId> launch;             ///< The runtime or driver call, or invalid.
  Column<SliceId> op;                 ///< The innermost operator (cpu_op), or invalid.
  Column<Attribution> attribution;
  Column<std::uint32_t> replay;       ///< Graph activities: 1, 2, … the n-th launch of … by its thread; else 0.
  std::vector<SliceId> activities;    ///< All device activities, by start time then file order.
  std::uint64_t without_launch = 0;   ///< Activities whose call is not in the trace.
  std::uint64_t launches_without_activity = 0;  ///< Launching calls (kernel, copy, fill, graph) with no activity.
  SliceId first_without_launch{};
  SliceId first_launch_without_activity{};
  double external_agreement = 0;      ///< Share of activities whose External id agrees with containment.
  bool external_trusted = false;      ///< At least 99 % agree.
};

Links compute_links(const Trace& trace, const Nesting& nesting);

/// What a runtime or driver call does, from its name, for CUDA, HIP and other vendors.
enum class CallKind : std::uint8_t {
  other,
  launch,          ///< Starts a kernel.
  graph_launch,    ///< Starts a graph.
  copy,            ///< Starts a copy, returns at once.
  copy_blocking,   ///< Starts a copy and waits for it.
  fill,            ///< Starts a memset.
  fill_blocking,
  synchronize,     ///< Waits: device, stream or event.
  allocate,        ///< cudaMalloc, cudaFree, cudaHostAlloc, …
};
CallKind classify_call(std::string_view name);

}  // namespace fathom

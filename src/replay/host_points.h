// The moments on host threads at which something outside the thread happens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/context.h"
#include "replay/graph.h"
#include "replay/handovers.h"
#include "store/column.h"

namespace fathom {

/// Where a point stands among those of its thread at the same time.
enum class PointOrder : std::uint8_t { arrival, step_end, step_begin, usual, departure };

struct HostPoint {
  Time at{};
  SliceId slice{};           ///< The call, or invalid.
  std::uint32_t thread = 0;  ///< Row of Nesting::work.
  NodeKind kind = NodeKind::point;
  PointOrder order = PointOrder::usual;
  std::uint32_t step = kNoRow;  ///< Whose end it may be.
};

/// A call that touches an event: cudaEventRecord, cudaStreamWaitEvent and their like.
struct EventCall {
  SliceId call{};
  Time at{};
  std::uint32_t thread = 0;  ///< Row of Nesting::work.
};

struct HostPoints {
  Column<HostPoint> points;               ///< By thread, time, order.
  std::vector<std::uint32_t> step_begin;  ///< Row of `points` per step, or kNoRow.
  std::vector<EventCall> records;         ///< By thread, then time.
  std::vector<EventCall> waits;           ///< By thread, then time.
};

/// Points: begin of calls that launched something, both ends of synchronising calls and of copies
/// from or to pageable memory, both ends of hand-overs and steps, begin and end of every thread.
/// O(n log n).
HostPoints compute_host_points(const Context& context, std::span<const Step> steps,
                               const std::vector<ThreadRun>& runs);

/// May the call wait for a device: a synchronisation, a blocking or pageable copy, freeing memory?
bool may_wait(const Trace& trace, const Links& links, SliceId call, bool pageable);

}  // namespace fathom

// The dependency graph behind a Replay: moments of the recording, and what each had to wait for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/context.h"
#include "store/trace.h"

namespace fathom {

class KeptShares;

/// No node, activity or step.
inline constexpr std::uint32_t kNoRow = UINT32_MAX;

/// A moment that something else may depend on.
enum class NodeKind : std::uint8_t {
  origin,   ///< The begin of the trace.
  point,    ///< On a host thread: the begin of a waiting call, of a step or of the thread, its end.
  arrival,  ///< On a host thread: it begins what another set going, or goes on after another.
  departure,  ///< On a host thread: it sets another going, or another waits for it.
  launch,     ///< Begin of a call that put work onto a device.
  sync_end,   ///< Return of a call that waits for a device.
  start,      ///< Of a device activity.
  end,        ///< Of a device activity.
};

/// Why a moment cannot come earlier.
enum class EdgeKind : std::uint8_t {
  host,      ///< Program order on one thread, with the time that the thread itself spent.
  handover,  ///< One host thread set another going, or waited for it.
  launch,    ///< Launching call → activity.
  stream,    ///< End of an activity → start of the next on its stream.
  overlap,   ///< Start of an activity → something that was recorded to begin (or end) before that
             ///< activity's end: the delay follows the activity's duration.
  event,     ///< End of an activity → start of one on a stream that waits for it.
  activity,  ///< Start → end of an activity.
  wait,      ///< End of an activity → return of the call that waits for it.
  before,    ///< Anything, from a moment that is not in the graph any more: a fixed time.
};

/// A dependency on an earlier node. The node that has it comes no earlier than `delay` after
/// `from`.
struct ReplayEdge {
  Duration delay{};
  std::uint32_t from = kNoRow;
  EdgeKind kind = EdgeKind::host;
};

/// The nodes of a host thread, in program order.
struct ReplayThread {
  const Nesting::Thread* work = nullptr;
  std::vector<std::uint32_t> points;
};

/// Nodes are numbered so that every edge comes from a lower number; numbers ascend with time.
/// Columns by node. time(n) = residual(n) + max over the origin's time and time(from) + delay of
/// its edges.
struct ReplayGraph {
  ReplayGraph(const Trace& of_trace, const Analyses& of_analyses)
      : trace(of_trace), analyses(of_analyses) {}

  const Trace& trace;
  const Analyses& analyses;

  std::vector<Time> at;  ///< As recorded.
  std::vector<NodeKind> kind;
  std::vector<SliceId> slice;       ///< The call or activity; may be invalid for points.
  std::vector<std::uint32_t> step;  ///< End nodes and the ends of steps: whose end they may be.
  std::vector<std::uint32_t> first_end;  ///< By step, and one more: where it begins in `ends`.
  std::vector<std::uint32_t> ends;       ///< The nodes that have a step, by step.
  std::vector<Duration> residual;        ///< What no edge explains.
  /// The part of the residual that every replay of a CUDA graph has at the same place: work of the
  /// graph that was not recorded. Empty without graphs.
  std::vector<Duration> unrecorded;
  std::vector<std::uint32_t> first_edge;  ///< Into `edges`; one more than there are nodes.
  std::vector<ReplayEdge> edges;          ///< By the node that has them.

  std::vector<ReplayThread> threads;
  /// Where there are many threads: each of their nodes and whose it is, by node.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> owners;
  std::vector<Step> steps;  ///< By process, then time.
  /// Rows of `steps` by process, begin and end of the window; of equal ones the first.
  std::map<std::tuple<StringId, Time, Time>, std::uint32_t> step_rows;
  /// Per step: the node of its host begin, or kNoRow for a whole trace.
  std::vector<std::uint32_t> step_begin;
  /// The step before of the same process, or kNoRow.
  std::vector<std::uint32_t> step_before;
  std::vector<std::uint32_t> predicted;  ///< Rows of `steps`, ascending.
  /// Of the ranges of plan_steps() for these, which are replayed again and again. Shared, as what
  /// it is is not known here.
  std::shared_ptr<KeptShares> shares;

  [[nodiscard]] std::size_t nodes() const { return at.size(); }
  /// The thread of a host node. O(log nodes).
  [[nodiscard]] const ReplayThread& thread_of(std::uint32_t node) const;
  /// The nodes that may end the step, in order.
  [[nodiscard]] std::span<const std::uint32_t> ends_of(std::uint32_t row) const {
    return std::span(ends).subspan(first_end[row], first_end[row + 1] - first_end[row]);
  }
};

}  // namespace fathom

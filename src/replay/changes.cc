// Turns edits of slices into changed delays.
#include "replay/changes.h"

#include <cmath>

namespace fathom {
namespace {

Duration scaled_by(double factor, Duration time) {
  if (factor == 1) return time;
  return duration_ns(std::llround(static_cast<double>(to_ns(time)) * factor));
}

}  // namespace

EditedGraph::EditedGraph(const ReplayGraph& graph, const Edits& edits,
                         const std::vector<NodeRange>& ranges, KeptShares* kept)
    : graph_(graph),
      links_(graph.analyses.links()),
      plain_(edits.empty()),
      edits_(edits, graph.trace),
      host_(change_host(graph, edits_, ranges, kept)) {}

/// Is the call gone that launched it?
bool EditedGraph::removed(SliceId activity) const {
  return edits_.any_flag() && edits_.has(links_.launch[activity.row()], SliceEdits::kRemoved);
}

/// Does what starts at `to` no longer wait for the activity? Other communication still does.
bool EditedGraph::hidden_from(SliceId activity, std::uint32_t to) const {
  if (!edits_.has(activity, SliceEdits::kHidden)) return false;
  const Timelines& timelines = graph_.analyses.timelines();
  return timelines.busy_kind(graph_.trace, graph_.slice[to]) != Busy::communication;
}

Duration EditedGraph::activity_time(SliceId activity) const {
  const Duration recorded = graph_.trace.slices.duration[activity.row()];
  if (removed(activity)) return {};
  return scaled_by(edits_.factor(activity), recorded);
}

/// What such a call does begins when the device is done.
bool EditedGraph::frees(SliceId call) const {
  return edits_.any_host() && links_.call_kind(graph_.trace, call) == CallKind::allocate;
}

Duration EditedGraph::edited_delay(const ReplayEdge& edge, std::uint32_t to) const {
  const SliceId from = graph_.slice[edge.from];
  switch (edge.kind) {
    case EdgeKind::host:
      return host_.delay.empty() ? edge.delay : std::max(Duration{}, edge.delay + host_.delay[to]);
    case EdgeKind::handover:
      return edits_.launch_once() ? Duration{} : edge.delay;
    case EdgeKind::launch:
      return edits_.has(from, SliceEdits::kRemoved) ? kNone : edge.delay;
    case EdgeKind::stream:
      // The stream goes on without what is hidden, but not before that could have begun.
      if (hidden_from(from, to)) return -activity_time(from);
      return removed(graph_.slice[to]) ? Duration{} : edge.delay;
    case EdgeKind::overlap:
      if (hidden_from(from, to)) return {};
      return std::max(Duration{},
                      edge.delay + activity_time(from) - graph_.trace.slices.duration[from.row()]);
    case EdgeKind::event:
      return hidden_from(from, to) ? kNone : edge.delay;
    case EdgeKind::activity:
      return activity_time(from);
    case EdgeKind::wait:
      if (edits_.has(graph_.slice[to], SliceEdits::kNoWait)) return kNone;
      return frees(graph_.slice[to]) ? scaled_by(edits_.factor(graph_.slice[to]), edge.delay)
                                     : edge.delay;
    case EdgeKind::before:
      return edge.delay;
  }
  return edge.delay;
}

Duration EditedGraph::edited_residual(std::uint32_t node) const {
  const SliceId slice = graph_.slice[node];
  const bool gone = graph_.kind[node] == NodeKind::sync_end
                        ? edits_.has(slice, SliceEdits::kNoWait)
                        : graph_.kind[node] == NodeKind::start && removed(slice);
  return gone ? Duration{} : graph_.residual[node];
}

}  // namespace fathom

// Turns edits of slices into changed delays.
#include "replay/changes.h"

#include <cmath>

#include "replay/host_pieces.h"

namespace fathom {
namespace {

Duration scaled(Duration time, double factor) {
  return duration_ns(std::llround(static_cast<double>(to_ns(time)) * factor));
}

}  // namespace

EditedGraph::EditedGraph(const ReplayGraph& graph, const Edits& edits,
                         const std::vector<NodeRange>& ranges)
    : graph_(graph),
      plain_(edits.empty()),
      launch_once_(edits.launch_once),
      any_ahead_(!edits.overlap.empty()) {
  if (plain_) return;
  const std::size_t slices = graph.trace.slices.size();
  if (!edits.scale.empty() || !edits.remove.empty()) factors_.assign(slices, 1.0F);
  for (const auto& [slice, factor] : edits.scale) factors_[slice.row()] = std::max(factor, 0.0F);
  for (const SliceId call : edits.remove) factors_[call.row()] = 0;
  mark(edits.remove, kRemoved);
  mark(edits.no_wait, kNoWait);
  mark(edits.hide, kHidden);
  mark(edits.overlap, kAhead);
  change_host(ranges);
}

void EditedGraph::mark(const std::vector<SliceId>& slices, Flag flag) {
  if (slices.empty()) return;
  flags_.resize(graph_.trace.slices.size());
  for (const SliceId slice : slices) flags_[slice.row()] |= flag;
}

/// Was the call gone that launched the activity which starts at this node?
bool EditedGraph::removed(std::uint32_t start) const {
  if (flags_.empty() || graph_.kind[start] != NodeKind::start) return false;
  return has(graph_.analyses.links().launch[graph_.slice[start].row()], kRemoved);
}

bool EditedGraph::communicates(std::uint32_t node) const {
  return graph_.analyses.timelines().busy_kind(graph_.trace, graph_.slice[node]) ==
         Busy::communication;
}

Duration EditedGraph::activity_time(std::uint32_t node, Duration recorded) const {
  const SliceId activity = graph_.slice[node];
  if (!flags_.empty() && has(graph_.analyses.links().launch[activity.row()], kRemoved)) return {};
  return factors_.empty() ? recorded : scaled(recorded, factors_[activity.row()]);
}

Duration EditedGraph::edited_delay(const ReplayEdge& edge, std::uint32_t to) const {
  const SliceId from = graph_.slice[edge.from];
  switch (edge.kind) {
    case EdgeKind::host:
      return host_.empty() ? edge.delay : std::max(Duration{}, edge.delay + host_[to]);
    case EdgeKind::handover:
      return launch_once_ ? Duration{} : edge.delay;
    case EdgeKind::launch:
      return has(from, kRemoved) ? kNone : edge.delay;
    case EdgeKind::stream:
      // The stream goes on without what is hidden, but not before it could have begun.
      if (has(from, kHidden) && !communicates(to))
        return -activity_time(edge.from, graph_.trace.slices.duration[from.row()]);
      return removed(to) ? Duration{} : edge.delay;
    case EdgeKind::overlap: {
      if (has(from, kHidden) && !communicates(to)) return {};
      const Duration recorded = graph_.trace.slices.duration[from.row()];
      return std::max(Duration{}, edge.delay + activity_time(edge.from, recorded) - recorded);
    }
    case EdgeKind::event:
      return has(from, kHidden) && !communicates(to) ? kNone : edge.delay;
    case EdgeKind::activity:
      return activity_time(to, edge.delay);
    case EdgeKind::wait:
      return has(graph_.slice[to], kNoWait) ? kNone : edge.delay;
  }
  return edge.delay;
}

Duration EditedGraph::edited_residual(std::uint32_t node) const {
  const bool gone =
      graph_.kind[node] == NodeKind::sync_end ? has(graph_.slice[node], kNoWait) : removed(node);
  return gone ? Duration{} : graph_.residual[node];
}

void EditedGraph::change_host(const std::vector<NodeRange>& ranges) {
  if (factors_.empty() && !launch_once_ && !any_ahead_) return;
  host_.resize(graph_.nodes());
  if (launch_once_) {
    step_bounds_.resize(graph_.nodes());
    for (const std::uint32_t node : graph_.step_begin) {
      if (node != kNoRow) step_bounds_[node] = true;
    }
  }
  for (std::uint32_t thread = 0; thread < graph_.threads.size(); ++thread) {
    if (launch_once_) find_captured(graph_.threads[thread]);
    for (const NodeRange& range : ranges) change_thread(thread, range);
  }
  std::ranges::stable_sort(ahead_, {}, &AheadWork::node);
}

/// Points up to which the thread does nothing but prepare launches of the graph that it is in.
void EditedGraph::find_captured(const ReplayThread& thread) {
  const auto& points = thread.points;
  captured_.assign(points.size(), false);
  const auto launches = [this](std::uint32_t node) {
    const NodeKind kind = graph_.kind[node];
    return kind == NodeKind::launch || kind == NodeKind::arrival || kind == NodeKind::departure;
  };
  const auto divides = [this](std::uint32_t node) {
    const bool step_end = graph_.kind[node] == NodeKind::point && graph_.step[node] != kNoRow;
    return graph_.kind[node] == NodeKind::sync_end || step_bounds_[node] || step_end;
  };
  bool inside = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    captured_[i] = inside && !divides(points[i]);
    inside = (inside || launches(points[i])) && !divides(points[i]);
  }
  inside = false;
  for (std::size_t i = points.size(); i-- > 0;) {
    inside = (inside || launches(points[i])) && !divides(points[i]);
    captured_[i] = captured_[i] && inside;
  }
}

void EditedGraph::change_thread(std::uint32_t row, NodeRange range) {
  const ReplayThread& thread = graph_.threads[row];
  const auto& points = thread.points;
  auto point =
      static_cast<std::size_t>(std::ranges::lower_bound(points, range.begin) - points.begin());
  const auto last =
      static_cast<std::size_t>(std::ranges::lower_bound(points, range.end) - points.begin());
  if (point == last) return;
  const Interval window{graph_.at[point == 0 ? points[0] : points[point - 1]],
                        graph_.at[points[last - 1]]};
  const Slices& slices = graph_.trace.slices;
  const Phases* const phases = launch_once_ ? &graph_.analyses.phases() : nullptr;
  Time ahead_until = window.begin;
  double change = 0;
  const auto visit = [&](SliceId owner, const Interval& piece) {
    for (; point < last && graph_.at[points[point]] <= piece.begin; ++point) {
      set_host(thread, point, change);
      change = 0;
    }
    if (point == last) return;
    // Pieces of an inner slice may come first: the outermost that runs ahead counts.
    for (SliceId around = any_ahead_ ? owner : SliceId();
         around.valid() && ahead_until <= piece.begin;
         around = graph_.analyses.nesting().parent[around.row()]) {
      if (!has(around, kAhead)) continue;
      ahead_until = slices.end(around);
      const auto next = std::ranges::lower_bound(
          points, ahead_until, {}, [this](std::uint32_t node) { return graph_.at[node]; });
      if (next == points.end()) break;
      ahead_.push_back({.node = *next,
                        .thread = row,
                        .work = slices.duration[around.row()],
                        .rest = graph_.at[*next] - ahead_until});
    }
    double factor = factors_.empty() || !owner.valid() ? 1.0 : double{factors_[owner.row()]};
    if (piece.begin < ahead_until) factor = 0;
    if (launch_once_ && captured_[point] && (!owner.valid() || (*phases)[owner] != Phase::data)) {
      factor = 0;
    }
    change += (factor - 1) * static_cast<double>(to_ns(piece.length()));
  };
  for_each_piece(graph_.trace, graph_.analyses.nesting(), *thread.work, window, visit);
  if (point < last) set_host(thread, point, change);
}

/// The thread's own time up to the point changes as the whole time since the point before does.
void EditedGraph::set_host(const ReplayThread& thread, std::size_t point, double change) {
  if (point == 0 || change == 0) return;
  const std::uint32_t node = thread.points[point];
  const Duration whole = graph_.at[node] - graph_.at[thread.points[point - 1]];
  for (std::uint32_t i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
    const ReplayEdge& edge = graph_.edges[i];
    if (edge.kind != EdgeKind::host || whole == Duration{}) continue;
    const double own = static_cast<double>(to_ns(edge.delay)) / static_cast<double>(to_ns(whole));
    host_[node] = duration_ns(std::llround(change * own));
  }
}

}  // namespace fathom

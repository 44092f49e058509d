// Replays the graph forward, and walks the critical path back.
#include "replay/run.h"

#include <algorithm>

namespace fathom {
namespace {

/// Batches that are prepared ahead of their use.
constexpr std::size_t kPrefetch = 2;

/// The thread that work which runs ahead was moved to: it takes one piece after the other, as far
/// ahead as kPrefetch allows.
class AheadThread {
 public:
  /// When the work is done at the earliest, and is taken at `wanted` if that is later.
  Time take(Time wanted, Duration work) {
    // The first one was prepared before the replay began.
    const Time begin = std::max(done_, taken_[count_ % kPrefetch]);
    const Time taken = count_ == 0 ? wanted : std::max(wanted, begin + work);
    done_ = count_ == 0 ? wanted : begin + work;
    taken_[count_ % kPrefetch] = taken;
    ++count_;
    return taken;
  }

 private:
  Time done_ = Time::min();
  std::array<Time, kPrefetch> taken_{Time::min(), Time::min()};
  std::size_t count_ = 0;
};

/// When the edges of a node allow it.
Time explained(const EditedGraph& edited, std::span<const Time> times, std::uint32_t node) {
  const ReplayGraph& graph = edited.graph();
  Time time = graph.at[0];
  for (std::uint32_t i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
    const Duration delay = edited.delay(graph.edges[i], node);
    if (delay != EditedGraph::kNone) time = std::max(time, times[graph.edges[i].from] + delay);
  }
  return time;
}

std::uint32_t first_node_at(const ReplayGraph& graph, Time at) {
  // Node 0, the origin, is always known.
  return static_cast<std::uint32_t>(
      std::ranges::lower_bound(graph.at.begin() + 1, graph.at.end(), at) - graph.at.begin());
}

std::uint32_t first_node_after(const ReplayGraph& graph, Time at) {
  return static_cast<std::uint32_t>(
      std::ranges::upper_bound(graph.at.begin() + 1, graph.at.end(), at) - graph.at.begin());
}

PathPart part_of_activity(const ReplayGraph& graph, std::uint32_t node) {
  const SliceId activity = graph.slice[node];
  switch (graph.analyses.timelines().busy_kind(graph.trace, activity)) {
    case Busy::communication:
      return PathPart::communication;
    case Busy::memcpy:
    case Busy::memset:
      return PathPart::copy;
    default:
      return PathPart::device;
  }
}

PathPart part_of(const ReplayGraph& graph, const ReplayEdge& edge) {
  switch (edge.kind) {
    case EdgeKind::host:
    case EdgeKind::handover:
      return PathPart::host;
    case EdgeKind::launch:
    case EdgeKind::stream:
      return PathPart::launch;
    case EdgeKind::activity:
    case EdgeKind::overlap:
      return part_of_activity(graph, edge.from);
    case EdgeKind::event:
    case EdgeKind::wait:
    case EdgeKind::before:
      return PathPart::wait;
  }
  return PathPart::wait;
}

/// The edge of the node that allowed it last, or nullptr.
const ReplayEdge* binding_edge(const EditedGraph& edited, std::span<const Time> times,
                               std::uint32_t node) {
  const ReplayGraph& graph = edited.graph();
  const ReplayEdge* binding = nullptr;
  Time latest = Time::min();
  for (std::uint32_t i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
    const ReplayEdge& edge = graph.edges[i];
    const Duration delay = edited.delay(edge, node);
    if (delay == EditedGraph::kNone || times[edge.from] + delay <= latest) continue;
    latest = times[edge.from] + delay;
    binding = &edge;
  }
  return binding;
}

/// The node that ends the step, or kNoRow.
std::uint32_t last_node(const ReplayGraph& graph, std::span<const Time> times, std::uint32_t step) {
  const Step& row = graph.steps[step];
  std::uint32_t last = kNoRow;
  for (const std::uint32_t node : graph.ends_of(step)) {
    const bool inside = graph.at[node] >= row.host.begin && graph.at[node] <= row.window.end;
    if (inside && (last == kNoRow || times[node] > times[last])) last = node;
  }
  return last;
}

}  // namespace

ReplayPlan plan_steps(const ReplayGraph& graph, std::span<const std::uint32_t> predicted) {
  ReplayPlan plan;
  std::vector<Interval> spans;
  for (const std::uint32_t step : predicted) {
    const std::uint32_t before = graph.step_before[step];
    if (before != kNoRow) plan.steps.push_back(before);
    plan.steps.push_back(step);
    const Step& first = graph.steps[before == kNoRow ? step : before];
    spans.push_back({first.host.begin, graph.steps[step].window.end});
  }
  std::ranges::sort(plan.steps);
  plan.steps.erase(std::unique(plan.steps.begin(), plan.steps.end()), plan.steps.end());
  std::ranges::sort(spans, {}, &Interval::begin);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    Interval span = spans[i];
    for (; i + 1 < spans.size() && spans[i + 1].begin <= span.end; ++i)
      span.end = std::max(span.end, spans[i + 1].end);
    plan.ranges.push_back({first_node_at(graph, span.begin), first_node_after(graph, span.end)});
  }
  return plan;
}

std::vector<Time> replay_times(const EditedGraph& edited, const std::vector<NodeRange>& ranges) {
  const ReplayGraph& graph = edited.graph();
  std::vector<Time> times = graph.at;
  for (const NodeRange& range : ranges) {
    std::vector<AheadThread> threads(edited.ahead().empty() ? 0 : graph.threads.size());
    auto ahead = std::ranges::lower_bound(edited.ahead(), range.begin, {}, &AheadWork::node);
    for (std::uint32_t node = range.begin; node < range.end; ++node) {
      times[node] = explained(edited, times, node) + edited.residual(node);
      for (; ahead != edited.ahead().end() && ahead->node == node; ++ahead) {
        AheadThread& thread = threads[ahead->thread];
        times[node] = thread.take(times[node] - ahead->rest, ahead->work) + ahead->rest;
      }
    }
  }
  return times;
}

std::vector<Interval> replay_windows(const ReplayGraph& graph, const ReplayPlan& plan,
                                     std::span<const Time> times) {
  std::vector<Time> ends(graph.steps.size(), Time::min());
  std::vector<Time> recorded_ends = ends;
  for (const NodeRange& range : plan.ranges) {
    for (std::uint32_t node = range.begin; node < range.end; ++node) {
      const std::uint32_t step = graph.step[node];
      if (step == kNoRow) continue;
      ends[step] = std::max(ends[step], times[node]);
      recorded_ends[step] = std::max(recorded_ends[step], graph.at[node]);
    }
  }
  std::vector<Interval> windows;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const std::uint32_t step = plan.steps[i];
    const Step& recorded = graph.steps[step];
    const std::uint32_t before = graph.step_before[step];
    // Windows touch, or begin with their step on the host.
    const bool touches =
        before != kNoRow && graph.steps[before].window.end == recorded.window.begin;
    const bool follows = touches && i > 0 && before == plan.steps[i - 1];
    const bool begins = !touches && graph.step_begin[step] != kNoRow;
    const Time begin = follows  ? windows.back().end
                       : begins ? times[graph.step_begin[step]]
                                : recorded.window.begin;
    // A trace without work is one step whose end may be that of a Python frame, which is no node.
    const Time end = recorded_ends[step] < recorded.window.begin
                         ? begin + recorded.window.length()
                         : ends[step] + (recorded.window.end - recorded_ends[step]);
    windows.push_back({begin, std::max(begin, end)});
  }
  return windows;
}

std::vector<PathStretch> trace_back(const EditedGraph& edited, std::span<const Time> times,
                                    std::uint32_t step, Interval window) {
  const ReplayGraph& graph = edited.graph();
  std::vector<PathStretch> path;
  Time cursor = window.end;
  const auto emit = [&](Time begin, std::uint32_t node, PathPart part, PathOrigin origin,
                        bool host = false) {
    begin = std::max(begin, window.begin);
    if (begin >= cursor) return;
    path.push_back({{begin, cursor}, part, node, host, origin});
    cursor = begin;
  };
  std::uint32_t node = last_node(graph, times, step);
  while (node != kNoRow && cursor > window.begin) {
    const Time known = std::min(explained(edited, times, node), times[node]);
    if (!graph.unrecorded.empty() && edited.residual(node) >= graph.unrecorded[node]) {
      emit(std::max(known, times[node] - graph.unrecorded[node]), kNoRow, PathPart::device,
           PathOrigin::unrecorded);
    }
    emit(known, node, PathPart::wait, PathOrigin::residual);
    const ReplayEdge* const edge = binding_edge(edited, times, node);
    if (edge == nullptr) break;
    emit(times[edge->from], node, part_of(graph, *edge), PathOrigin::edge,
         edge->kind == EdgeKind::host);
    node = edge->from;
  }
  emit(window.begin, kNoRow, PathPart::wait, PathOrigin::residual);
  return path;
}

}  // namespace fathom

// Builds the graph of a recording, and keeps what its dependencies do not explain.
#include "replay/build.h"

#include <algorithm>
#include <numeric>

#include "analysis/util/row_order.h"
#include "base/stop.h"
#include "replay/delays.h"
#include "replay/edge_list.h"
#include "replay/graph_gaps.h"
#include "replay/handovers.h"
#include "replay/host_points.h"
#include "replay/keep.h"
#include "replay/kept_shares.h"
#include "replay/node_order.h"
#include "replay/run.h"
#include "replay/step_choice.h"
#include "replay/streams.h"
#include "replay/waits.h"

namespace fathom {
namespace {

/// Nodes of two threads, of which one set the other going.
struct Handover {
  std::uint32_t from = kNoRow;
  std::uint32_t to = kNoRow;
};

/// Where a step may end on a host thread.
struct HostEnd {
  std::uint32_t node = kNoRow;
  std::uint32_t step = kNoRow;
};

class GraphBuilder {
 public:
  GraphBuilder(const Context& context, ReplayGraph& graph)
      : context_(context),
        trace_(context.trace),
        links_(context.links()),
        graph_(graph),
        runs_(compute_thread_runs(context)),
        points_(compute_host_points(context, graph.steps, runs_)),
        streams_(compute_streams(context)),
        order_(order_nodes(context, points_, graph)) {
    describe_threads();
    describe_steps();
  }

  /// The nodes of the ranges get their edges and residuals.
  void connect(std::span<const NodeRange> ranges) {
    waits_ = compute_waits(context_, points_, streams_);
    delays_ = compute_delays(context_, streams_);
    launches_ = launch_nodes();
    find_handovers();
    // Have done their duty, and room is scarce.
    streams_.streams = {};
    points_.points = {};
    runs_ = {};
    EdgeList edges(graph_, ranges);
    stop_point();
    add_edges(edges);
    edges.counted();
    stop_point();
    add_edges(edges);
    stop_point();
    edges.finish();
    describe_ends();
  }

  void find_unrecorded() const { find_unrecorded_work(context_, streams_, order_.start, graph_); }

 private:
  /// The first arrival or the last departure of a thread at that time.
  [[nodiscard]] std::uint32_t find_point(std::uint32_t thread, Time at, PointOrder order) const {
    const HostPoint wanted{.at = at, .slice = {}, .thread = thread, .order = order};
    const auto before = [](const HostPoint& a, const HostPoint& b) {
      if (a.thread != b.thread) return a.thread < b.thread;
      return a.at != b.at ? a.at < b.at : a.order < b.order;
    };
    const auto at_row =
        std::lower_bound(points_.points.begin(), points_.points.end(), wanted, before);
    return static_cast<std::uint32_t>(at_row - points_.points.begin());
  }

  void describe_threads() {
    graph_.threads.resize(context_.nesting().work.size());
    for (std::size_t row = 0; row < graph_.threads.size(); ++row)
      graph_.threads[row].work = &context_.nesting().work[row];
    for (std::uint32_t row = 0; row < points_.points.size(); ++row)
      graph_.threads[points_.points[row].thread].points.push_back(order_.point[row]);
  }

  void add_edges(EdgeList& edges) const {
    add_host_edges(edges);
    add_activity_edges(edges);
    add_waits(edges);
  }

  /// Chains the points of every thread.
  void add_host_edges(EdgeList& edges) const {
    for (const Handover& handover : handovers_)
      edges.add(EdgeKind::handover, handover.from, handover.to, Duration::max());
    auto sync = waits_.syncs.begin();
    std::uint32_t row = 0;
    for (const ReplayThread& thread : graph_.threads) {
      for (std::size_t i = 0; i < thread.points.size(); ++i, ++row) {
        // The part of the time since the point before that the thread itself needed.
        Duration own = arrives_[row] ? Duration{} : Duration::max();
        if (sync != waits_.syncs.end() && sync->point == row) {
          own = std::min(own, sync->own);
          ++sync;
        }
        if (i > 0) edges.add(EdgeKind::host, thread.points[i - 1], thread.points[i], own);
      }
    }
  }

  void find_handovers() {
    arrives_.resize(points_.points.size());
    const auto add = [this](std::uint32_t from, std::uint32_t to) {
      handovers_.push_back({order_.point[from], order_.point[to]});
      arrives_[to] = true;
    };
    for (const ThreadRun& run : runs_) {
      if (run.fed && *run.fed < run.interval.begin) {
        add(find_point(run.feeder, *run.fed, PointOrder::departure),
            find_point(run.thread, run.interval.begin, PointOrder::arrival));
      }
      if (run.resumed && run.interval.end < *run.resumed) {
        add(find_point(run.thread, run.interval.end, PointOrder::departure),
            find_point(run.feeder, *run.resumed, PointOrder::arrival));
      }
    }
  }

  void add_activity_edges(EdgeList& edges) const {
    for (std::uint32_t i = 0; i < links_.activities.size(); ++i) {
      const SliceId activity = links_.activities[i];
      const std::uint32_t start = order_.start[i];
      edges.add(EdgeKind::activity, start, order_.end[i], trace_.slices.duration[activity.row()]);
      if (streams_.after[i] != kNoRow)
        edges.add(EdgeKind::stream, order_.end[streams_.after[i]], start, delays_.stream);
      if (streams_.during[i] != kNoRow)
        edges.add(EdgeKind::overlap, order_.start[streams_.during[i]], start, Duration::max());
      if (launches_[i] == kNoRow) continue;
      const SliceId call = links_.launch[activity.row()];
      const auto kind = static_cast<std::size_t>(links_.call_kind(trace_, call));
      edges.add(EdgeKind::launch, launches_[i], start, delays_.launch[kind]);
    }
  }

  /// The node of each activity's launching call, or kNoRow; by activity.
  [[nodiscard]] std::vector<std::uint32_t> launch_nodes() const {
    std::vector<std::uint32_t> points;
    for (std::uint32_t row = 0; row < points_.points.size(); ++row) {
      if (points_.points[row].kind == NodeKind::launch) points.push_back(row);
    }
    const auto call_of = [this](std::uint32_t row) { return points_.points[row].slice; };
    sort_rows(std::span(points),
              [call_of](std::uint32_t a, std::uint32_t b) { return call_of(a) < call_of(b); });
    std::vector<std::uint32_t> nodes(links_.activities.size(), kNoRow);
    auto point = points.begin();
    for (const std::uint32_t i : streams_.by_call) {
      const SliceId call = links_.launch[links_.activities[i].row()];
      while (point != points.end() && call_of(*point) < call) ++point;
      if (point != points.end() && call_of(*point) == call) nodes[i] = order_.point[*point];
    }
    return nodes;
  }

  void add_waits(EdgeList& edges) const {
    for (const SyncWait& sync : waits_.syncs) {
      if (sync.activity == kNoRow) continue;
      const std::vector<std::uint32_t>& moments = sync.from_start ? order_.start : order_.end;
      edges.add(EdgeKind::wait, moments[sync.activity], order_.point[sync.point], sync.after);
    }
    for (const EventWait& wait : waits_.events)
      edges.add(EdgeKind::event, order_.end[wait.source], order_.start[wait.activity],
                delays_.stream);
  }

  void describe_steps() {
    const std::vector<Step>& steps = graph_.steps;
    graph_.step_begin.assign(steps.size(), kNoRow);
    graph_.step_before.assign(steps.size(), kNoRow);
    for (std::uint32_t row = 0; row < steps.size(); ++row) {
      const Step& step = steps[row];
      graph_.step_rows.try_emplace({step.process, step.window.begin, step.window.end}, row);
      if (points_.step_begin[row] != kNoRow)
        graph_.step_begin[row] = order_.point[points_.step_begin[row]];
      if (row > 0 && steps[row - 1].process == steps[row].process)
        graph_.step_before[row] = row - 1;
    }
    for (std::uint32_t row = 0; row < points_.points.size(); ++row) {
      if (points_.points[row].step != kNoRow)
        host_ends_.push_back({order_.point[row], points_.points[row].step});
    }
  }

  void describe_ends() {
    graph_.step.assign(graph_.nodes(), kNoRow);
    for (const HostEnd& end : host_ends_) graph_.step[end.node] = end.step;
    const StepFinder finder(context_, graph_.steps);
    for (std::uint32_t i = 0; i < links_.activities.size(); ++i)
      graph_.step[order_.end[i]] = finder.of_activity(links_.activities[i]);
  }

  const Context& context_;
  const Trace& trace_;
  const Links& links_;
  ReplayGraph& graph_;
  std::vector<ThreadRun> runs_;
  HostPoints points_;
  Streams streams_;
  NodeOrder order_;
  Waits waits_;
  TypicalDelays delays_;
  std::vector<std::uint32_t> launches_;  // by activity: node of its launching call
  std::vector<HostEnd> host_ends_;
  std::vector<Handover> handovers_;
  std::vector<bool> arrives_;  // by host point: did another thread set it going?
};

bool has_graph_replays(const Links& links) {
  return std::ranges::any_of(links.replay.by_rank(), [](std::uint32_t each) { return each > 0; });
}

/// Groups the nodes that may end a step by the step.
void index_ends(ReplayGraph& graph) {
  graph.first_end.assign(graph.steps.size() + 1, 0);
  for (const std::uint32_t step : graph.step) {
    if (step != kNoRow) ++graph.first_end[step + 1];
  }
  std::partial_sum(graph.first_end.begin(), graph.first_end.end(), graph.first_end.begin());
  graph.ends.resize(graph.first_end.back());
  std::vector<std::uint32_t> next(graph.first_end.begin(), graph.first_end.end() - 1);
  for (std::uint32_t node = 0; node < graph.nodes(); ++node) {
    if (graph.step[node] != kNoRow) graph.ends[next[graph.step[node]]++] = node;
  }
}

/// What the edges do not explain.
void keep_residuals(ReplayGraph& graph) {
  graph.residual.resize(graph.nodes());
  for (std::uint32_t node = 1; node < graph.nodes(); ++node) {
    Time explained = graph.at[0];
    for (std::uint32_t i = graph.first_edge[node]; i < graph.first_edge[node + 1]; ++i) {
      const ReplayEdge& edge = graph.edges[i];
      explained = std::max(explained, graph.at[edge.from] + edge.delay);
    }
    graph.residual[node] = graph.at[node] - explained;
  }
}

/// Few threads are looked through one after the other.
void index_owners(ReplayGraph& graph) {
  constexpr std::size_t kFew = 16;
  if (graph.threads.size() <= kFew) return;
  for (std::uint32_t row = 0; row < graph.threads.size(); ++row) {
    for (const std::uint32_t point : graph.threads[row].points)
      graph.owners.emplace_back(point, row);
  }
  std::ranges::sort(graph.owners);
}

}  // namespace

std::unique_ptr<ReplayGraph> build_replay_graph(const Context& context, std::span<const Step> steps,
                                                std::span<const Step* const> counted,
                                                ReplayScope scope) {
  auto graph = std::make_unique<ReplayGraph>(context.trace, context.analyses);
  graph->steps.assign(steps.begin(), steps.end());
  GraphBuilder builder(context, *graph);
  graph->predicted = choose_steps(context, steps, counted);
  const std::vector<NodeRange> all{{.begin = 0, .end = static_cast<std::uint32_t>(graph->nodes())}};
  const std::vector<NodeRange> ranges =
      scope == ReplayScope::predicted ? plan_steps(*graph, graph->predicted).ranges : all;
  // What each replay of a CUDA graph lacks is known from all of them.
  if (has_graph_replays(context.links())) {
    builder.connect(all);
    keep_residuals(*graph);
    builder.find_unrecorded();
    if (scope == ReplayScope::predicted) keep_only(*graph, ranges);
  } else {
    builder.connect(ranges);
    if (scope == ReplayScope::predicted) keep_only(*graph, ranges);
    keep_residuals(*graph);
  }
  index_ends(*graph);
  index_owners(*graph);
  graph->shares = std::make_shared<KeptShares>(graph->threads.size());
  return graph;
}

}  // namespace fathom

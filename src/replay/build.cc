// Puts nodes and edges together, and keeps what they do not explain.
#include "replay/build.h"

#include <algorithm>

#include "replay/delays.h"
#include "replay/graph_gaps.h"
#include "replay/handovers.h"
#include "replay/host_points.h"
#include "replay/node_order.h"
#include "replay/step_choice.h"
#include "replay/streams.h"
#include "replay/waits.h"

namespace fathom {
namespace {

/// Adds edges to nodes, in any order. All are added twice: first they are counted, then each is put
/// where it belongs, so that no second list of them is ever held.
class EdgeList {
 public:
  explicit EdgeList(ReplayGraph& graph) : graph_(graph) {
    graph_.first_edge.assign(graph_.nodes() + 1, 0);
  }

  /// `to` comes no earlier than `delay` after `from`, or after as much as was recorded if that is
  /// less. What the recording contradicts is no dependency.
  void add(EdgeKind kind, std::uint32_t from, std::uint32_t to, Duration delay) {
    const Duration recorded = graph_.at[to] - graph_.at[from];
    if (from >= to || recorded < Duration{}) return;
    if (counting_) {
      ++graph_.first_edge[to + 1];
    } else {
      const ReplayEdge edge{.delay = std::min(delay, recorded), .from = from, .kind = kind};
      graph_.edges[graph_.first_edge[to]++] = edge;
    }
  }

  /// All edges are counted; now the same are added.
  void counted() {
    counting_ = false;
    for (std::size_t node = 0; node < graph_.nodes(); ++node)
      graph_.first_edge[node + 1] += graph_.first_edge[node];
    graph_.edges.resize(graph_.first_edge.back());
  }
  /// All are added: where the edges of a node ended up beginning, those of the next one do.
  void finish() {
    std::shift_right(graph_.first_edge.begin(), graph_.first_edge.end(), 1);
    graph_.first_edge.front() = 0;
  }

 private:
  ReplayGraph& graph_;
  bool counting_ = true;
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
        order_(order_nodes(context, points_, graph)),
        edges_(graph) {}

  void build() {
    describe_threads();
    waits_ = compute_waits(context_, points_, streams_);
    delays_ = compute_delays(context_, streams_);
    launches_ = launch_nodes();
    streams_.streams = {};  // has done its duty, and room is scarce
    add_edges();
    edges_.counted();
    add_edges();
    edges_.finish();
    points_.points = {};
    runs_ = {};
    keep_residuals();
    find_unrecorded_work(context_, streams_, order_.start, graph_);
    describe_steps();
  }

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

  void add_edges() {
    add_host_edges();
    add_activity_edges();
    add_waits();
  }

  /// Chains the points of every thread.
  void add_host_edges() {
    const auto& points = points_.points;
    std::vector<bool> arrives(points.size());
    for (const ThreadRun& run : runs_) add_handover(run, arrives);
    auto sync = waits_.syncs.begin();
    for (std::uint32_t row = 0; row < points.size(); ++row) {
      // The part of the time since the point before that the thread itself needed.
      Duration own = arrives[row] ? Duration{} : Duration::max();
      if (sync != waits_.syncs.end() && sync->point == row) {
        own = std::min(own, sync->own);
        ++sync;
      }
      if (row == 0 || points[row - 1].thread != points[row].thread) continue;
      edges_.add(EdgeKind::host, order_.point[row - 1], order_.point[row], own);
    }
  }

  void add_handover(const ThreadRun& run, std::vector<bool>& arrives) {
    if (run.fed && *run.fed < run.interval.begin) {
      const std::uint32_t begin = find_point(run.thread, run.interval.begin, PointOrder::arrival);
      const std::uint32_t fed = find_point(run.feeder, *run.fed, PointOrder::departure);
      edges_.add(EdgeKind::handover, order_.point[fed], order_.point[begin], Duration::max());
      arrives[begin] = true;
    }
    if (run.resumed && run.interval.end < *run.resumed) {
      const std::uint32_t end = find_point(run.thread, run.interval.end, PointOrder::departure);
      const std::uint32_t resumed = find_point(run.feeder, *run.resumed, PointOrder::arrival);
      edges_.add(EdgeKind::handover, order_.point[end], order_.point[resumed], Duration::max());
      arrives[resumed] = true;
    }
  }

  void add_activity_edges() {
    for (std::uint32_t i = 0; i < links_.activities.size(); ++i) {
      const SliceId activity = links_.activities[i];
      const std::uint32_t start = order_.start[i];
      edges_.add(EdgeKind::activity, start, order_.end[i], trace_.slices.duration[activity.row()]);
      if (streams_.after[i] != kNoRow)
        edges_.add(EdgeKind::stream, order_.end[streams_.after[i]], start, delays_.stream);
      if (streams_.during[i] != kNoRow)
        edges_.add(EdgeKind::overlap, order_.start[streams_.during[i]], start, Duration::max());
      if (launches_[i] == kNoRow) continue;
      const SliceId call = links_.launch[activity.row()];
      const auto kind = static_cast<std::size_t>(links_.call_kind(trace_, call));
      edges_.add(EdgeKind::launch, launches_[i], start, delays_.launch[kind]);
    }
  }

  /// The node of each activity's launching call, or kNoRow; by activity.
  [[nodiscard]] std::vector<std::uint32_t> launch_nodes() const {
    std::vector<std::uint32_t> by_call(trace_.slices.size(), kNoRow);
    for (std::uint32_t row = 0; row < points_.points.size(); ++row) {
      if (points_.points[row].kind == NodeKind::launch)
        by_call[points_.points[row].slice.row()] = order_.point[row];
    }
    std::vector<std::uint32_t> nodes(links_.activities.size(), kNoRow);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const SliceId call = links_.launch[links_.activities[i].row()];
      if (call.valid()) nodes[i] = by_call[call.row()];
    }
    return nodes;
  }

  void add_waits() {
    for (const SyncWait& sync : waits_.syncs) {
      if (sync.activity == kNoRow) continue;
      edges_.add(EdgeKind::wait, order_.end[sync.activity], order_.point[sync.point], sync.after);
    }
    for (const EventWait& wait : waits_.events)
      edges_.add(EdgeKind::event, order_.end[wait.source], order_.start[wait.activity],
                 delays_.stream);
  }

  void keep_residuals() {
    graph_.residual.resize(graph_.nodes());
    for (std::uint32_t node = 1; node < graph_.nodes(); ++node) {
      Time explained = graph_.at[0];
      for (std::uint32_t i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
        const ReplayEdge& edge = graph_.edges[i];
        explained = std::max(explained, graph_.at[edge.from] + edge.delay);
      }
      graph_.residual[node] = graph_.at[node] - explained;
    }
  }

  void describe_steps() {
    const std::vector<Step>& steps = graph_.steps;
    graph_.step_begin.assign(steps.size(), kNoRow);
    graph_.step_before.assign(steps.size(), kNoRow);
    for (std::uint32_t row = 0; row < steps.size(); ++row) {
      if (points_.step_begin[row] != kNoRow)
        graph_.step_begin[row] = order_.point[points_.step_begin[row]];
      if (row > 0 && steps[row - 1].process == steps[row].process)
        graph_.step_before[row] = row - 1;
    }
    const StepFinder finder(context_, steps);
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
  EdgeList edges_;
  Waits waits_;
  TypicalDelays delays_;
  std::vector<std::uint32_t> launches_;  // by activity: node of its launching call
};

}  // namespace

std::unique_ptr<ReplayGraph> build_replay_graph(const Context& context, std::span<const Step> steps,
                                                std::span<const Step* const> counted) {
  auto graph = std::make_unique<ReplayGraph>(context.trace, context.analyses);
  graph->steps.assign(steps.begin(), steps.end());
  GraphBuilder(context, *graph).build();
  graph->predicted = choose_steps(context, steps, counted);
  return graph;
}

}  // namespace fathom

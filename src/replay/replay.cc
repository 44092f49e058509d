// Answers questions about a replay from its graph.
#include "replay/replay.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/stop.h"
#include "replay/build.h"
#include "replay/host_pieces.h"
#include "replay/run.h"
#include "replay/step_choice.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, kPathParts> kNames = {"host",          "launch", "device",
                                                             "communication", "copy",   "wait"};

std::vector<NodeRange> everything(const ReplayGraph& graph) {
  return {{1, static_cast<std::uint32_t>(graph.nodes())}};
}

/// The middle one of the predicted steps by time, as a position among them.
std::size_t middle(const std::vector<Duration>& steps) {
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&steps](std::size_t i) { return steps[i]; });
  return order[(order.size() - 1) / 2];
}

/// The stretch in pieces of the innermost slices of its thread.
void add_host_pieces(const ReplayGraph& graph, const PathStretch& stretch,
                     std::vector<PathPiece>& pieces) {
  const ReplayThread& thread = graph.thread_of(stretch.node);
  const std::size_t first = pieces.size();
  Time at = stretch.interval.begin;
  for_each_piece(graph.trace, graph.analyses.nesting(), *thread.work, stretch.interval,
                 [&](SliceId owner, const Interval& piece) {
                   pieces.push_back({piece, PathPart::host, owner});
                   at = piece.end;
                 });
  if (pieces.size() > first) pieces[first].interval.begin = stretch.interval.begin;
  if (at < stretch.interval.end) pieces.push_back({{at, stretch.interval.end}, PathPart::host, {}});
}

}  // namespace

const ReplayThread& ReplayGraph::thread_of(std::uint32_t node) const {
  if (!owners.empty()) {
    const auto found =
        std::ranges::lower_bound(owners, node, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
    return threads[found->second];
  }
  return *std::ranges::find_if(threads, [node](const ReplayThread& thread) {
    return std::ranges::binary_search(thread.points, node);
  });
}

void summarise(Prediction& prediction) {
  if (prediction.steps.empty()) return;
  std::vector<Duration> sorted = prediction.steps;
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  prediction.median = sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  prediction.mean = std::accumulate(sorted.begin(), sorted.end(), Duration{}) /
                    static_cast<std::int64_t>(sorted.size());
}

std::string_view to_string(PathPart part) { return kNames[static_cast<std::size_t>(part)]; }

double Residuals::percent() const {
  return window == Duration{}
             ? 0
             : 100.0 * static_cast<double>(to_ns(sum)) / static_cast<double>(to_ns(window));
}

Replay::Replay(std::unique_ptr<const ReplayGraph> graph) : graph_(std::move(graph)) {}
Replay::Replay(Replay&&) noexcept = default;
Replay::~Replay() = default;

Replay Replay::build(const Context& context) {
  return build(context, context.steps().steps, counted_steps(context));
}

Replay Replay::build(const Context& context, std::span<const Step> steps,
                     std::span<const Step* const> counted) {
  return Replay(build_replay_graph(context, steps, counted, ReplayScope::everything));
}

Replay Replay::for_predictions(const Context& context) {
  return for_predictions(context, context.steps().steps, counted_steps(context));
}

Replay Replay::for_predictions(const Context& context, std::span<const Step> steps,
                               std::span<const Step* const> counted) {
  return Replay(build_replay_graph(context, steps, counted, ReplayScope::predicted));
}

Prediction Replay::run(const Edits& edits) const {
  stop_point();
  const ReplayPlan plan = plan_steps(*graph_, graph_->predicted);
  const EditedGraph edited(*graph_, edits, plan.ranges, graph_->shares.get());
  const std::vector<Time> times = replay_times(edited, plan.ranges);
  const std::vector<Interval> windows = replay_windows(*graph_, plan, times);
  Prediction prediction;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (!std::ranges::binary_search(graph_->predicted, plan.steps[i])) continue;
    rows.push_back(i);
    prediction.steps.push_back(windows[i].length());
  }
  summarise(prediction);
  if (rows.empty()) return prediction;
  const std::size_t row = rows[middle(prediction.steps)];
  for (const PathStretch& stretch : trace_back(edited, times, plan.steps[row], windows[row]))
    prediction.path[static_cast<std::size_t>(stretch.part)] += stretch.interval.length();
  return prediction;
}

std::vector<SliceId> Replay::concerned(std::span<const SliceId> slices) const {
  const Slices& rows = graph_->trace.slices;
  std::vector<bool> of_node(rows.size());
  for (const SliceId slice : graph_->slice) {
    if (slice.valid()) of_node[slice.row()] = true;
  }
  const std::vector<std::vector<Interval>> windows =
      host_windows(*graph_, plan_steps(*graph_, graph_->predicted).ranges);
  std::vector<const std::vector<Interval>*> of_track(graph_->trace.tracks.size());
  for (std::size_t thread = 0; thread < windows.size(); ++thread)
    of_track[graph_->threads[thread].work->track.row()] = &windows[thread];
  // Windows ascend, and so do their ends.
  const auto in_sight = [&](SliceId slice) {
    const std::vector<Interval>* const all = of_track[rows.track[slice.row()].row()];
    if (all == nullptr) return false;
    const auto window = std::ranges::lower_bound(*all, rows.start[slice.row()], {}, &Interval::end);
    return window != all->end() && window->begin <= rows.end(slice);
  };
  std::vector<SliceId> found;
  std::ranges::copy_if(slices, std::back_inserter(found),
                       [&](SliceId slice) { return of_node[slice.row()] || in_sight(slice); });
  return found;
}

std::vector<Interval> Replay::predicted_windows() const {
  std::vector<Interval> windows;
  windows.reserve(graph_->predicted.size());
  for (const std::uint32_t step : graph_->predicted) windows.push_back(graph_->steps[step].window);
  return windows;
}

ActivityColumn<Interval> Replay::activities(const Edits& edits) const {
  const std::vector<NodeRange> ranges = everything(*graph_);
  const EditedGraph edited(*graph_, edits, ranges);
  const std::vector<Time> times = replay_times(edited, ranges);
  ActivityColumn<Interval> result(std::make_shared<const ActivityIndex>(graph_->trace));
  for (std::uint32_t node = 0; node < graph_->nodes(); ++node) {
    const SliceId slice = graph_->slice[node];
    if (graph_->kind[node] == NodeKind::start) result.at(slice.row()).begin = times[node];
    if (graph_->kind[node] == NodeKind::end) result.at(slice.row()).end = times[node];
  }
  return result;
}

Residuals Replay::residuals() const {
  const EditedGraph unchanged(*graph_, {}, {});
  Residuals result;
  for (const std::uint32_t step : graph_->predicted) {
    const Interval window = graph_->steps[step].window;
    result.window += window.length();
    for (const PathStretch& stretch : trace_back(unchanged, graph_->at, step, window)) {
      if (stretch.origin == PathOrigin::residual) result.sum += stretch.interval.length();
      if (stretch.origin == PathOrigin::unrecorded) result.unrecorded += stretch.interval.length();
    }
  }
  return result;
}

std::vector<PathPiece> Replay::critical_path(const Step& step) const {
  const EditedGraph unchanged(*graph_, {}, {});
  const auto found = graph_->step_rows.find({step.process, step.window.begin, step.window.end});
  if (found == graph_->step_rows.end()) return {};
  std::vector<PathStretch> path = trace_back(unchanged, graph_->at, found->second, step.window);
  std::ranges::reverse(path);
  std::vector<PathPiece> pieces;
  for (const PathStretch& stretch : path) {
    if (stretch.host) {
      add_host_pieces(*graph_, stretch, pieces);
      continue;
    }
    const SliceId slice = stretch.node == kNoRow ? SliceId() : graph_->slice[stretch.node];
    pieces.push_back({stretch.interval, stretch.part, slice});
  }
  return pieces;
}

std::size_t Replay::nodes() const { return graph_->nodes(); }

}  // namespace fathom

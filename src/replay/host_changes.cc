// Applies edits to the time of host threads.
#include "replay/host_changes.h"

#include <algorithm>
#include <cmath>

#include "replay/host_pieces.h"
#include "replay/kept_shares.h"

namespace fathom {
namespace {

/// By point of a thread: lies between launches of one graph, so that capturing the graph leaves
/// nothing of the time since the point before. Waits and steps divide graphs.
std::vector<bool> captured_points(const ReplayGraph& graph, const std::vector<bool>& step_bounds,
                                  const std::vector<std::uint32_t>& points) {
  std::vector<bool> captured(points.size());
  const auto launches = [&graph](std::uint32_t node) {
    const NodeKind kind = graph.kind[node];
    return kind == NodeKind::launch || kind == NodeKind::arrival || kind == NodeKind::departure;
  };
  const auto divides = [&](std::uint32_t node) {
    return graph.kind[node] == NodeKind::sync_end || step_bounds[node];
  };
  bool inside = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    captured[i] = inside && !divides(points[i]);
    inside = (inside || launches(points[i])) && !divides(points[i]);
  }
  inside = false;
  for (std::size_t i = points.size(); i-- > 0;) {
    inside = (inside || launches(points[i])) && !divides(points[i]);
    captured[i] = captured[i] && inside;
  }
  return captured;
}

/// Host points that begin or end a step.
std::vector<bool> step_bounds(const ReplayGraph& graph) {
  std::vector<bool> bounds(graph.nodes());
  for (const std::uint32_t node : graph.step_begin) {
    if (node != kNoRow) bounds[node] = true;
  }
  for (std::size_t node = 0; node < graph.nodes(); ++node) {
    if (graph.kind[node] == NodeKind::point && graph.step[node] != kNoRow) bounds[node] = true;
  }
  return bounds;
}

/// The points of a thread in a range, and the stretch that they end.
struct PointRange {
  std::size_t first = 0;
  std::size_t last = 0;
  Interval window{};
};

/// Does the node come after another one of its thread that is in the graph?
bool follows(const ReplayGraph& graph, std::uint32_t node) {
  const auto first = graph.edges.begin() + graph.first_edge[node];
  const auto last = graph.edges.begin() + graph.first_edge[node + 1];
  return std::any_of(first, last,
                     [](const ReplayEdge& edge) { return edge.kind == EdgeKind::host; });
}

PointRange points_in(const ReplayGraph& graph, const std::vector<std::uint32_t>& points,
                     const NodeRange& range) {
  const auto position = [&points](std::uint32_t node) {
    return static_cast<std::size_t>(std::ranges::lower_bound(points, node) - points.begin());
  };
  PointRange inside{.first = position(range.begin), .last = position(range.end), .window = {}};
  if (inside.first == inside.last) return inside;
  const std::size_t from = follows(graph, points[inside.first]) ? inside.first - 1 : inside.first;
  inside.window = {graph.at[points[from]], graph.at[points[inside.last - 1]]};
  return inside;
}

/// Sums up the changes of one thread, piece by piece.
class ThreadChanges {
 public:
  ThreadChanges(const ReplayGraph& graph, const SliceEdits& edits, std::uint32_t thread,
                const std::vector<bool>& captured, HostChanges& changes)
      : graph_(graph),
        edits_(edits),
        phases_(edits.launch_once() ? &graph.analyses.phases() : nullptr),
        nesting_(graph.analyses.nesting()),
        thread_(thread),
        points_(graph.threads[thread].points),
        captured_(captured),
        changes_(changes) {}

  void walk(const NodeRange& range) {
    const PointRange inside = points_in(graph_, points_, range);
    point_ = inside.first;
    last_ = inside.last;
    if (point_ == last_) return;
    const Interval& window = inside.window;
    ahead_until_ = window.begin;
    change_ = 0;
    for_each_piece(graph_.trace, nesting_, *graph_.threads[thread_].work, window,
                   [this](SliceId owner, const Interval& piece) { add(owner, piece); });
    if (point_ < last_) finish_point();
  }

  /// The same by shares of these ranges, where slices are scaled and no more.
  void add_up(const ThreadShares& shares, const std::vector<NodeRange>& ranges) {
    std::size_t share = 0;
    auto end = shares.ends.begin();
    for (const NodeRange& range : ranges) {
      const PointRange inside = points_in(graph_, points_, range);
      for (point_ = inside.first; point_ < inside.last; ++end) {
        double change = 0;
        for (; share < *end; ++share) {
          const double factor = edits_.factor(shares.owners[share]);
          if (factor != 1) change += (factor - 1) * static_cast<double>(to_ns(shares.times[share]));
        }
        change_ = change;
        finish_point();
      }
    }
  }

 private:
  [[nodiscard]] Time at(std::size_t point) const { return graph_.at[points_[point]]; }

  void add(SliceId owner, Interval piece) {
    if (edits_.any_ahead()) look_for_work_ahead(owner, piece.begin);
    const double factor = piece.begin < ahead_until_ ? 0 : edits_.factor(owner);
    // Steps may begin and end inside a slice.
    while (point_ < last_ && at(point_) <= piece.end) {
      const Time until = std::max(piece.begin, at(point_));
      add_share(owner, factor, until - piece.begin);
      finish_point();
      piece.begin = until;
    }
    if (point_ < last_) add_share(owner, factor, piece.length());
  }

  void add_share(SliceId owner, double factor, Duration share) {
    const bool data = phases_ != nullptr && owner.valid() && (*phases_)[owner] == Phase::data;
    if (!captured_.empty() && captured_[point_] && !data) factor = 0;
    change_ += (factor - 1) * static_cast<double>(to_ns(share));
  }

  /// The thread's own time up to the point changes as the whole time since the point before does.
  void finish_point() {
    const std::size_t point = point_++;
    const double change = change_;
    change_ = 0;
    if (point == 0 || change == 0) return;
    const std::uint32_t node = points_[point];
    const Duration whole = at(point) - at(point - 1);
    for (std::uint32_t i = graph_.first_edge[node]; i < graph_.first_edge[node + 1]; ++i) {
      const ReplayEdge& edge = graph_.edges[i];
      if (edge.kind != EdgeKind::host || whole == Duration{}) continue;
      const double own = static_cast<double>(to_ns(edge.delay)) / static_cast<double>(to_ns(whole));
      changes_.delay[node] = duration_ns(std::llround(change * own));
    }
  }

  /// Pieces of an inner slice may come first: the outermost that runs ahead counts.
  void look_for_work_ahead(SliceId owner, Time begin) {
    if (begin < ahead_until_) return;
    SliceId work;
    for (; owner.valid(); owner = nesting_.parent[owner.row()]) {
      if (edits_.has(owner, SliceEdits::kAhead)) work = owner;
    }
    if (!work.valid()) return;
    ahead_until_ = graph_.trace.slices.end(work);
    const auto next = std::ranges::lower_bound(
        points_, ahead_until_, {}, [this](std::uint32_t node) { return graph_.at[node]; });
    if (next == points_.end()) return;
    const auto whole = static_cast<double>(to_ns(graph_.trace.slices.duration[work.row()]));
    // Several workers share it.
    const Duration share = duration_ns(std::llround(whole * edits_.factor(work)));
    changes_.ahead.push_back(
        {.node = *next, .thread = thread_, .work = share, .rest = graph_.at[*next] - ahead_until_});
  }

  const ReplayGraph& graph_;
  const SliceEdits& edits_;
  const Phases* phases_;
  const Nesting& nesting_;
  std::uint32_t thread_;
  const std::vector<std::uint32_t>& points_;
  const std::vector<bool>& captured_;
  HostChanges& changes_;
  std::size_t point_ = 0;  // the point that the walk comes to next
  std::size_t last_ = 0;
  Time ahead_until_{};
  double change_ = 0;  // since the point before
};

/// As ThreadChanges::walk() comes by them.
ThreadShares shares_of(const ReplayGraph& graph, const ReplayThread& thread,
                       const std::vector<NodeRange>& ranges) {
  ThreadShares shares;
  const auto add = [&shares](SliceId owner, Duration time) {
    if (!owner.valid() || time == Duration{}) return;
    shares.owners.push_back(owner);
    shares.times.push_back(time);
  };
  for (const NodeRange& range : ranges) {
    const PointRange inside = points_in(graph, thread.points, range);
    if (inside.first == inside.last) continue;
    std::size_t point = inside.first;
    const auto finish_point = [&] {
      shares.ends.push_back(static_cast<std::uint32_t>(shares.owners.size()));
      ++point;
    };
    for_each_piece(graph.trace, graph.analyses.nesting(), *thread.work, inside.window,
                   [&](SliceId owner, Interval piece) {
                     while (point < inside.last && graph.at[thread.points[point]] <= piece.end) {
                       const Time until = std::max(piece.begin, graph.at[thread.points[point]]);
                       add(owner, until - piece.begin);
                       finish_point();
                       piece.begin = until;
                     }
                     if (point < inside.last) add(owner, piece.end - piece.begin);
                   });
    while (point < inside.last) finish_point();
  }
  return shares;
}

}  // namespace

std::vector<std::vector<Interval>> host_windows(const ReplayGraph& graph,
                                                const std::vector<NodeRange>& ranges) {
  std::vector<std::vector<Interval>> windows(graph.threads.size());
  for (std::size_t thread = 0; thread < windows.size(); ++thread) {
    for (const NodeRange& range : ranges) {
      const PointRange inside = points_in(graph, graph.threads[thread].points, range);
      if (inside.first != inside.last) windows[thread].push_back(inside.window);
    }
  }
  return windows;
}

HostChanges change_host(const ReplayGraph& graph, const SliceEdits& edits,
                        const std::vector<NodeRange>& ranges, KeptShares* kept) {
  HostChanges changes;
  if (!edits.any_host()) return changes;
  changes.delay.resize(graph.nodes());
  const std::vector<bool> bounds = edits.launch_once() ? step_bounds(graph) : std::vector<bool>();
  std::vector<bool> captured;
  const bool plain = kept != nullptr && !edits.launch_once() && !edits.any_ahead();
  for (std::uint32_t thread = 0; thread < graph.threads.size(); ++thread) {
    if (!edits.launch_once() && !edits.any_on(graph.threads[thread].work->track)) continue;
    if (edits.launch_once())
      captured = captured_points(graph, bounds, graph.threads[thread].points);
    ThreadChanges walk(graph, edits, thread, captured, changes);
    if (plain) {
      const auto compute = [&] { return shares_of(graph, graph.threads[thread], ranges); };
      walk.add_up(kept->of(thread, compute), ranges);
    } else {
      for (const NodeRange& range : ranges) walk.walk(range);
    }
  }
  std::ranges::stable_sort(changes.ahead, {}, &AheadWork::node);
  return changes;
}

}  // namespace fathom

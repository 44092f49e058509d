// Sums time by distinct call stack.
// One tree of stacks over all threads: host time by a sweep, device time by the launch's place.
#include "analysis/operators/folded_stacks.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/structure/torch_names.h"

namespace fathom {
namespace {

/// Stacks as a tree: a node is its parent's stack and one more name, down to kDeepestStack.
class StackTree {
 public:
  static constexpr std::uint32_t kRoot = 0;

  explicit StackTree(const TorchNames& names) : names_(names) { nodes_.push_back({}); }

  std::uint32_t child(std::uint32_t parent, std::uint32_t name) {
    const std::uint32_t depth = nodes_[parent].depth + 1;
    if (depth > kDeepestStack) return parent;
    const auto next = static_cast<std::uint32_t>(nodes_.size());
    const auto [at, added] = known_.try_emplace(std::uint64_t{parent} << 32 | name, next);
    if (added) nodes_.push_back({.parent = parent, .name = name, .depth = depth});
    return at->second;
  }
  void add_time(std::uint32_t node, Duration time) { nodes_[node].time += time; }
  void count(std::uint32_t node) { ++nodes_[node].count; }

  [[nodiscard]] std::vector<FoldedStack> folded() const {
    std::vector<FoldedStack> out;
    for (std::uint32_t node = 1; node < nodes_.size(); ++node) {
      if (nodes_[node].time == Duration()) continue;
      out.push_back({.text = text(node), .time = nodes_[node].time, .count = nodes_[node].count});
    }
    std::ranges::sort(out, [](const FoldedStack& a, const FoldedStack& b) {
      return a.time != b.time ? a.time > b.time : a.text < b.text;
    });
    return out;
  }

 private:
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t name = 0;
    std::uint32_t depth = 0;
    Duration time{};
    std::int64_t count = 0;
  };

  [[nodiscard]] std::string text(std::uint32_t node) const {
    std::vector<std::uint32_t> path;
    for (; node != kRoot; node = nodes_[node].parent) path.push_back(nodes_[node].name);
    std::string out;
    for (auto name = path.rbegin(); name != path.rend(); ++name) {
      if (!out.empty()) out += ';';
      for (const char c : names_.text(*name)) out += c == ';' ? ',' : c == '\n' ? ' ' : c;
    }
    return out;
  }

  const TorchNames& names_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;
};

/// Frames and host work of one thread together, by (start, -end), frames outside of equal work.
std::vector<SliceId> all_of_thread(const Trace& trace, const Nesting::Thread* frames,
                                   const Nesting::Thread* work) {
  static const std::vector<SliceId> kNothing;
  const std::vector<SliceId>& a = frames == nullptr ? kNothing : frames->slices;
  const std::vector<SliceId>& b = work == nullptr ? kNothing : work->slices;
  std::vector<SliceId> out(a.size() + b.size());
  std::ranges::merge(a, b, out.begin(), [&](SliceId x, SliceId y) {
    const Time start_x = trace.slices.start[x.row()];
    const Time start_y = trace.slices.start[y.row()];
    if (start_x != start_y) return start_x < start_y;
    return trace.slices.duration[x.row()] > trace.slices.duration[y.row()];
  });
  return out;
}

/// Sweeps over one thread in time and gives every instant to the top of the stack.
class ThreadSweep {
 public:
  ThreadSweep(const Trace& trace, const TorchNames& names, StackTree& tree, bool timed)
      : trace_(trace), names_(names), tree_(tree), timed_(timed) {}

  /// Opens the next slice and returns its node. A slice that is not `shown` takes part in nesting,
  /// but its time and what it contains belong to the stack around it.
  std::uint32_t open(SliceId slice, bool shown) {
    const Time start = trace_.slices.start[slice.row()];
    const Time end = trace_.slices.end(slice);
    advance(start);
    while (!open_.empty() && end > open_.back().end) open_.pop_back();
    std::uint32_t node = open_.empty() ? StackTree::kRoot : open_.back().node;
    if (shown) {
      node = tree_.child(node, names_[trace_.slices.name[slice.row()]].canonical);
      if (timed_) tree_.count(node);
    }
    open_.push_back({end, node});
    return node;
  }
  void finish() { advance(Time::max()); }

 private:
  struct Open {
    Time end;
    std::uint32_t node;
  };

  void advance(Time to) {
    while (!open_.empty() && open_.back().end <= to) {
      give(open_.back().end);
      open_.pop_back();
    }
    if (!open_.empty()) give(to);
    now_ = to;
  }
  void give(Time until) {
    if (until <= now_) return;
    if (timed_) tree_.add_time(open_.back().node, until - now_);
    now_ = until;
  }

  const Trace& trace_;
  const TorchNames& names_;
  StackTree& tree_;
  bool timed_;
  std::vector<Open> open_;
  Time now_ = Time::min();
};

/// Fills the tree from the host; by slice: the node of operators, and of calls the node around
/// them.
Column<std::uint32_t> sweep_host(const Context& context, const TorchNames& names, StackTree& tree,
                                 StackMetric metric) {
  const Trace& trace = context.trace;
  std::map<TrackId, std::pair<const Nesting::Thread*, const Nesting::Thread*>> threads;
  for (const Nesting::Thread& thread : context.nesting().frames)
    threads[thread.track].first = &thread;
  for (const Nesting::Thread& thread : context.nesting().work)
    threads[thread.track].second = &thread;
  const Selector selector = context.selector();
  const bool host = metric == StackMetric::host;
  Column<std::uint32_t> nodes;
  if (!host) nodes.resize(trace.slices.size());
  for (const auto& [track, lists] : threads) {
    ThreadSweep sweep(trace, names, tree, host);
    for (const SliceId slice : all_of_thread(trace, lists.first, lists.second)) {
      if (host && !selector.host(trace, slice)) continue;
      const std::uint32_t node = sweep.open(slice, host || !is_runtime_call(trace.kind(slice)));
      if (!host) nodes[slice.row()] = node;
    }
    sweep.finish();
  }
  return nodes;
}

void add_activities(const Context& context, const TorchNames& names,
                    const Column<std::uint32_t>& nodes, StackTree& tree) {
  const Trace& trace = context.trace;
  const Links& links = context.links();
  const Selector selector = context.selector();
  for (const SliceId activity : links.activities) {
    if (!selector.activity(trace, activity)) continue;
    const SliceId launch = links.launch[activity.row()];
    const SliceId host = launch.valid() ? launch : links.op[activity.row()];
    const std::uint32_t around = host.valid() ? nodes[host.row()] : StackTree::kRoot;
    const std::uint32_t node =
        tree.child(around, names[trace.slices.name[activity.row()]].canonical);
    tree.add_time(node, trace.slices.duration[activity.row()]);
    tree.count(node);
  }
}

}  // namespace

std::vector<FoldedStack> compute_folded_stacks(const Context& context, StackMetric metric) {
  const TorchNames names(context.trace);
  StackTree tree(names);
  const Column<std::uint32_t> nodes = sweep_host(context, names, tree, metric);
  if (metric == StackMetric::device) add_activities(context, names, nodes, tree);
  return tree.folded();
}

}  // namespace fathom

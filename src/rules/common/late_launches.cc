// Sums the host's part of gaps that a late launch ended.
#include "rules/common/late_launches.h"

#include <algorithm>
#include <map>

#include "rules/common/counted.h"
#include "rules/common/names.h"

namespace fathom {
namespace {

/// A launch that takes longer loads something.
constexpr Duration kLongestLaunch = duration_ns(1'000'000);

/// Is it the host's, with the launch? What the accounting leaves unexplained before a kernel is a
/// launch that took longer than the median. Of work that was queued just before the gap, what is
/// left of its launch.
bool is_late(const Trace& trace, const Gap& gap, Bucket cause) {
  if (gap.opener == Opener::waiting) return cause == Bucket::launch_latency;
  if (gap.opener != Opener::ran_dry) return false;
  if (cause == Bucket::device_wait) {
    return trace.kind(gap.next) == SliceKind::kernel &&
           gap.interval.end - trace.slices.start[gap.launch.row()] < kLongestLaunch;
  }
  return cause == Bucket::dispatch || cause == Bucket::python || cause == Bucket::launch_latency;
}

bool is_operator(std::string_view name) {
  return name.find("::") != name.npos && !name.starts_with("autograd::");
}

/// Operators that run long on the host and call nothing: they compute there. No launch is late
/// because of what launching costs, and no graph can hold them.
class HostComputing {
 public:
  explicit HostComputing(const RuleContext& rules)
      : rules_(rules),
        operators_(rules.trace(), is_operator),
        calls_(rules.trace().slices.size()),
        threads_(rules.trace().tracks.size()) {
    const Trace& trace = rules.trace();
    for_each_activity(rules, [&](SliceId activity, SliceId op) {
      mark(rules.context.links().launch[activity.row()]);
      mark(op);
    });
    for (const Nesting::Thread& thread : rules.context.nesting().work) {
      threads_[thread.track.row()] = &thread;
      for (const SliceId slice : thread.slices)
        if (is_runtime_call(trace.kind(slice))) mark(slice);
    }
  }

  /// The outermost such operators of a thread, sorted, disjoint.
  const std::vector<Interval>& of(TrackId track) {
    const auto [at, added] = known_.try_emplace(track);
    if (added) at->second = find(track);
    return at->second;
  }

  /// The counted time of a piece in which the thread does not compute.
  Duration left(const Interval& piece, TrackId track) {
    const std::vector<Interval>& all = of(track);
    Duration time = rules_.counted(piece);
    const auto ended = [&](const Interval& op) { return op.end <= piece.begin; };
    for (auto op = std::ranges::partition_point(all, ended);
         op != all.end() && op->begin < piece.end; ++op) {
      time -= rules_.counted({std::max(op->begin, piece.begin), std::min(op->end, piece.end)});
    }
    return time;
  }

  /// Is this operator one of them, or inside one?
  bool computes(SliceId op) {
    const Time start = rules_.trace().slices.start[op.row()];
    const std::vector<Interval>& all = of(rules_.trace().slices.track[op.row()]);
    const auto ended = [start](const Interval& at) { return at.end <= start; };
    const auto at = std::ranges::partition_point(all, ended);
    return at != all.end() && at->begin <= start;
  }

 private:
  /// It calls, and so does what is around it.
  void mark(SliceId slice) {
    const Column<SliceId>& parent = rules_.context.nesting().parent;
    for (; slice.valid() && !calls_[slice.row()]; slice = parent[slice.row()])
      calls_[slice.row()] = true;
  }

  [[nodiscard]] std::vector<Interval> find(TrackId track) const {
    const Trace& trace = rules_.trace();
    std::vector<Interval> found;
    const Nesting::Thread* const thread = threads_[track.row()];
    if (thread == nullptr) return found;
    for (const SliceId slice : thread->slices) {
      const Time start = trace.slices.start[slice.row()];
      if (!found.empty() && start < found.back().end) continue;
      if (trace.slices.duration[slice.row()] <= kLongestCall || calls_[slice.row()]) continue;
      if (trace.kind(slice) != SliceKind::cpu_op) continue;
      if (!operators_.contains(trace.slices.name[slice.row()])) continue;
      found.push_back({start, trace.slices.end(slice)});
    }
    return found;
  }

  const RuleContext& rules_;
  NameSet operators_;
  std::vector<bool> calls_;  // by slice: it or what it holds calls the runtime, or launches
  std::vector<const Nesting::Thread*> threads_;  // by track
  std::map<TrackId, std::vector<Interval>> known_;
};

}  // namespace

LateLaunches late_launches(const RuleContext& rules) {
  LateLaunches late;
  const DeviceAccounting& device = *rules.accounting.find(rules.device);
  HostComputing computing(rules);
  std::uint32_t last = UINT32_MAX;
  for (const IdlePiece& piece : device.pieces) {
    const Gap& gap = device.gaps[piece.gap];
    if (!gap.next.valid() || !is_late(rules.trace(), gap, piece.cause)) continue;
    const Duration idle =
        gap.launch.valid()
            ? computing.left(piece.interval, rules.trace().slices.track[gap.launch.row()])
            : rules.counted(piece.interval);
    if (idle <= Duration{}) continue;
    late.claims.push_back({.device = rules.device, .gap = piece.gap, .time = idle});
    if (piece.gap == last) continue;
    last = piece.gap;
    ++late.gaps;
    if (gap.late_op.valid() && !computing.computes(gap.late_op)) late.ops.push_back(gap.late_op);
    if (gap.interval.length() > late.longest.length()) late.longest = gap.interval;
  }
  return late;
}

}  // namespace fathom

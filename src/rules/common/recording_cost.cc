// Estimates what recording costs the host, per event.
#include "rules/common/recording_cost.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/structure/overhead.h"
#include "analysis/structure/stretches.h"
#include "rules/common/counted.h"
#include "rules/common/recorded.h"

namespace fathom {
namespace {

/// Per event; docs/diagnosis.md has what recording cost our own programs.
constexpr std::int64_t kOperatorNs = 600;
constexpr std::int64_t kFrameNs = 400;

/// How many slices of the thread begin in these windows, which are disjoint and ascend.
std::int64_t counted(const RuleContext& rules, const Nesting::Thread& thread,
                     const std::vector<Interval>& windows) {
  const Column<Time>& start = rules.trace().slices.start;
  if (thread.slices.size() < windows.size()) {
    return std::ranges::count_if(thread.slices, [&](SliceId slice) {
      const Time time = start[slice.row()];
      const auto after = std::ranges::upper_bound(windows, time, {}, &Interval::begin);
      return after != windows.begin() && time < std::prev(after)->end;
    });
  }
  const auto before = [&](Time time) {
    return std::ranges::lower_bound(thread.slices, time, {},
                                    [&](SliceId slice) { return start[slice.row()]; }) -
           thread.slices.begin();
  };
  std::int64_t sum = 0;
  for (const Interval& window : windows) {
    sum += before(window.end) - before(window.begin);
  }
  return sum;
}

}  // namespace

Duration EventCounts::cost() const {
  return duration_ns(operators * kOperatorNs + frames * kFrameNs);
}

EventCounts busiest_thread(const RuleContext& rules) {
  const Nesting& nesting = rules.context.nesting();
  const CountedTime time(rules);
  std::vector<EventCounts> threads(rules.trace().tracks.size());
  for (const Nesting::Thread& thread : nesting.work) {
    threads[thread.track.row()].operators = counted(rules, thread, time.windows());
  }
  for (const Nesting::Thread& thread : nesting.frames) {
    threads[thread.track.row()].frames = counted(rules, thread, time.windows());
  }
  const auto busiest = std::ranges::max_element(threads, {}, &EventCounts::cost);
  return busiest == threads.end() ? EventCounts{} : *busiest;
}

MarkedOverhead marked_overhead(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  MarkedOverhead marked;
  std::vector<Interval> stretches;
  for (const Nesting::Thread& thread : rules.context.nesting().rest) {
    for (const SliceId slice : thread.slices) {
      if (trace.kind(slice) != SliceKind::overhead || !counts(rules, slice)) continue;
      if (is_overhead_of_cuda(trace.name(slice))) continue;
      marked.slices.push_back(slice);
      stretches.push_back(interval_of(trace, slice));
    }
  }
  for (const Interval& stretch : merged(std::move(stretches))) {
    marked.time += rules.counted(stretch);
  }
  return marked;
}

bool may_be_due_to_recording(const RuleContext& rules, const RecordingOverhead& measured) {
  if (rules.device >= 0 || rules.steps.empty()) return true;
  const Duration cost = busiest_thread(rules).cost() + marked_overhead(rules).time;
  return measured.may_be_due_to(cost / step_count(rules));
}

Duration recording_cost(const RuleContext& rules) {
  const Nesting::Thread* const thread =
      thread_on(rules.context.nesting().work, rules.accounting.main_thread);
  if (rules.device >= 0 || has_frames(rules) || thread == nullptr) return duration_ns(-1);
  const CountedTime time(rules);
  const EventCounts events{.operators = counted(rules, *thread, time.windows())};
  return std::min(events.cost(), rules.window()) / step_count(rules);
}

Duration removed_recording_cost(const RuleContext& rules, const Edits& edits) {
  const Trace& trace = rules.trace();
  double removed = 0;
  for (const auto& [slice, factor] : edits.scale) {
    const bool there = trace.slices.track[slice.row()] == rules.accounting.main_thread &&
                       rules.counts(trace.slices.start[slice.row()]);
    if (there) removed += 1.0 - std::min(1.0, static_cast<double>(factor));
  }
  return duration_ns(static_cast<std::int64_t>(removed * kOperatorNs)) / step_count(rules);
}

}  // namespace fathom

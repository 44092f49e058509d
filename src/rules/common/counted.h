// What counts: slices, activities and operators that start in counted steps.
#pragma once

#include <cstdint>
#include <vector>

#include "rules/rule.h"

namespace fathom {

/// Does this host slice or activity start in a counted step (an activity: on the device that the
/// diagnosis is about)?
bool counts(const RuleContext& rules, SliceId slice);

/// Number of counted steps, at least 1.
std::int64_t step_count(const RuleContext& rules);

/// The lengths of the counted steps' windows.
std::vector<Duration> step_lengths(const RuleContext& rules);

/// Calls visit(activity, its innermost operator) for each activity of the diagnosed device that
/// starts in a counted step, by time. The operator may be invalid.
template <typename Visit>
void for_each_activity(const RuleContext& rules, const Visit& visit) {
  const DeviceTimeline* const timeline = rules.context.timelines().find(rules.device);
  if (timeline == nullptr) return;
  const Links& links = rules.context.links();
  CountedTime counted(rules);
  for (const SliceId activity : timeline->activities) {
    if (counted.holds(rules.trace().slices.start[activity.row()])) {
      visit(activity, links.op[activity.row()]);
    }
  }
}

/// The same; without a device visit(operator, the same operator) for each operator of the main
/// thread that starts in a counted step, by time, those around others first.
template <typename Visit>
void for_each_work(const RuleContext& rules, const Visit& visit) {
  if (rules.device >= 0) {
    for_each_activity(rules, visit);
    return;
  }
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    if (thread.track != rules.accounting.main_thread) continue;
    CountedTime counted(rules);
    for (const SliceId op : thread.slices) {
      const bool counts = counted.holds(rules.trace().slices.start[op.row()]);
      if (counts && rules.trace().kind(op) == SliceKind::cpu_op) visit(op, op);
    }
  }
}

}  // namespace fathom

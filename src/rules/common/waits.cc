// Joins calls that waited for the same work, and leaves out what cannot have cost anything.
#include "rules/common/waits.h"

#include <algorithm>

namespace fathom {

std::vector<DeviceWait> device_waits(const RuleContext& rules) {
  std::vector<DeviceWait> waits;
  const DeviceTimeline* const timeline = rules.context.timelines().find(rules.device);
  if (timeline == nullptr || timeline->activities.empty()) return waits;
  const Slices& slices = rules.trace().slices;
  const std::vector<SliceId>& activities = timeline->activities;
  const auto starts_before = [&slices](SliceId activity, Time at) {
    return slices.start[activity.row()] < at;
  };
  Time returned = Time::min();  // the last call so far
  for (const SyncCall& sync : rules.syncs) {
    if (sync.device != rules.device) continue;
    const Interval call{slices.start[sync.call.row()], slices.end(sync.call)};
    const auto next =
        std::lower_bound(activities.begin(), activities.end(), call.end, starts_before);
    if (next == activities.begin() || next == activities.end()) continue;
    const bool same = !waits.empty() && slices.start[std::prev(next)->row()] < returned;
    if (!same) {
      if (!waits.empty()) waits.back().reach.end = call.begin;
      waits.push_back({.calls = {}, .waited = {}, .reach = {call.begin, Time::max()}});
    }
    DeviceWait& wait = waits.back();
    wait.waited += std::max(Duration{}, call.end - std::max(call.begin, returned));
    wait.calls.push_back(&sync);
    if (call.length() > slices.duration[wait.calls.front()->call.row()])
      std::swap(wait.calls.front(), wait.calls.back());
    returned = std::max(returned, call.end);
  }
  return waits;
}

}  // namespace fathom

// Asks the counted steps, and for activities the device.
#include "rules/common/counted.h"

#include <algorithm>

namespace fathom {

bool counts(const RuleContext& rules, SliceId slice) {
  const Trace& trace = rules.trace();
  if (is_device_activity(trace.kind(slice)) && trace.track(slice).device != rules.device) {
    return false;
  }
  return rules.counts(trace.slices.start[slice.row()]);
}

std::int64_t step_count(const RuleContext& rules) {
  return static_cast<std::int64_t>(std::max<std::size_t>(rules.steps.size(), 1));
}

std::vector<Duration> step_lengths(const RuleContext& rules) {
  std::vector<Duration> lengths;
  lengths.reserve(rules.steps.size());
  for (const Step* const step : rules.steps) lengths.push_back(step->window.length());
  return lengths;
}

}  // namespace fathom

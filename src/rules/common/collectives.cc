// Picks the collectives of the counted steps.
#include "rules/common/collectives.h"

#include <optional>

#include "rules/common/counted.h"

namespace fathom {

std::vector<CollectiveCall> collective_calls(const RuleContext& rules) {
  std::vector<SliceId> slices;
  if (rules.device >= 0) {
    const Timelines& timelines = rules.context.timelines();
    for_each_activity(rules, [&](SliceId activity, SliceId) {
      if (timelines.busy_kind(rules.trace(), activity) == Busy::communication)
        slices.push_back(activity);
    });
  } else {
    for (const SliceId slice : host_collectives(rules.context)) {
      if (rules.counts(rules.trace().slices.start[slice.row()])) slices.push_back(slice);
    }
  }
  return describe_collectives(rules.context, slices);
}

bool has_peers(const RuleContext& rules) {
  const std::optional<Distributed>& info = rules.trace().distributed;
  return !info || info->world_size == kAbsent || info->world_size > 1;
}

}  // namespace fathom

// Collectives of a recording as rules see them: those of the counted steps.
#pragma once

#include <vector>

#include "analysis/devices/collectives.h"
#include "rules/rule.h"

namespace fathom {

/// With a device: its communication activities. Without: the outermost communication slices of
/// every host thread. By time per thread.
std::vector<CollectiveCall> collective_calls(const RuleContext& rules);

/// Is more than one rank known to take part, or at least nothing known that says otherwise?
bool has_peers(const RuleContext& rules);

}  // namespace fathom

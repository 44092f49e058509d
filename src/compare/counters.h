// Numbers of a recording that have no noise: how often and how much, not how long.
#pragma once

#include <vector>

#include "analysis/context.h"
#include "analysis/structure/torch_names.h"
#include "compare/profile.h"
#include "compare/step_windows.h"

namespace fathom {

/// Over what starts in the windows; the peaks are of the whole recording. What the recording cannot
/// show is left out: without a device there are no launches, without shapes no operations. O(n).
std::vector<Counter> collect_counters(const Context& context, const TorchNames& names,
                                      const StepWindows& windows, std::int32_t device);

}  // namespace fathom

// What the recording holds, and so what a rule can know.
#pragma once

#include "rules/rule.h"

namespace fathom {

/// Do any operators of the trace carry shapes?
bool has_shapes(const Trace& trace);

/// Does any Python frame exist?
bool has_frames(const RuleContext& rules);

/// Was a backward pass or an optimizer step recorded in the counted steps?
bool is_training(const RuleContext& rules);

/// The properties of the diagnosed device, or nullptr.
const Device* device_of(const RuleContext& rules);

/// True where work went to a device of which nothing was recorded, or less than half of the
/// kernels: then times of the host and idle times say little. O(names + slices).
bool device_unrecorded(const RuleContext& rules);

/// True where the host's operators, calls and Python frames were not recorded: nothing then shows
/// what ran inside its annotations.
bool only_annotations(const RuleContext& rules);

}  // namespace fathom

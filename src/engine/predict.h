// What each finding's change would give, by replay.
#pragma once

#include "engine/diagnosis.h"
#include "replay/replay.h"
#include "rules/rule.h"

namespace fathom {

/// Sets the gain and the predicted step times of each finding that could matter; findings have
/// their upper bounds. O(findings × replay), in parallel.
void predict(const RuleContext& rules, const Replay& replay, Diagnosis& diagnosis);

}  // namespace fathom

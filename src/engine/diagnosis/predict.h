// Predicts by replay what each finding saves, and what the first ones save together.
#pragma once

#include "engine/diagnosis/diagnosis.h"
#include "replay/replay.h"
#include "rules/common/outliers.h"

namespace fathom {

/// Sets the gain, the gain after the others, and the predicted step times of each finding that
/// could matter; findings have their upper bounds. O(findings × replay), in parallel. `rules` are
/// of the steps that are no outliers.
void predict(const RuleContext& rules, const Outliers& outliers, const Replay& replay,
             Diagnosis& diagnosis);

/// Sets `together`: what the first three findings save by one replay of all their changes. Findings
/// have their numbers. O(replay).
void predict_together(const RuleContext& rules, const Outliers& outliers, const Replay& replay,
                      Diagnosis& diagnosis);

}  // namespace fathom

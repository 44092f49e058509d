// Orders findings by what they save, joins those of one cause, and numbers those that save time.
#pragma once

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// Brings diagnosis.findings, as rules made them, into the order in which they are shown: what the
/// verdict is about, those that save time, the others, remarks on the recording. Findings of rules
/// of one cause become alternatives of the first of them. Sets `part`, `number` and `quick_win`.
/// O(n log n).
void make_cards(Diagnosis& diagnosis);

}  // namespace fathom

// Orders findings by what they save, joins those of one cause, and numbers those that save time.
#pragma once

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// Brings diagnosis.findings, as rules made them, into the order in which they are shown: what the
/// verdict is about, those that save time, the others, remarks on the recording. Of those that save
/// time the one stands first that saves most by itself. The others follow by what they save by
/// themselves, to which what they save after all others adds a part. Low confidence counts half;
/// what is next to nothing is ordered by severity. Findings of rules of one cause become
/// alternatives of the first of them. Sets `part`, `number` and `quick_win`. O(n log n).
void make_cards(Diagnosis& diagnosis);

/// What a finding shares with findings of other rules; empty where it shares its cause with none.
std::string_view cause_of(const RankedFinding& ranked);

}  // namespace fathom

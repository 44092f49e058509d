// Several runs of one program as one profile.
#pragma once

#include <span>
#include <vector>

#include "compare/runs.h"

namespace fathom {

/// Steps one after the other, rows with the same key added up, counts summed. A peak is the
/// largest, a clock the mean over the runs where all have one. What one recording counted and
/// another did not is left out. At least one; all of a device, or none.
Profile pooled(std::span<const Profile* const> profiles);

/// Each that a run has, with all values that runs recorded for it, ascending: "1, 2". So two sides
/// have the same text where they had the same values.
std::vector<Condition> pooled_conditions(std::span<const Profile* const> profiles);

}  // namespace fathom

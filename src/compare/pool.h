// Several runs of one program as one profile.
#pragma once

#include <span>

#include "compare/runs.h"

namespace fathom {

/// Steps one after the other, rows with the same key added up, counts summed; conditions of the
/// first run. A peak is the largest, a clock the mean over the runs where all have one. What one
/// recording counted and another did not is left out. At least one; all of a device, or none.
Profile pooled(std::span<const Profile* const> profiles);

}  // namespace fathom

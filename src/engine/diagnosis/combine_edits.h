// Joins the changes of several findings into one.
#pragma once

#include <span>

#include "replay/replay.h"

namespace fathom {

/// All changes at once: of several factors for one slice the smallest counts, since a change never
/// undoes another. O(n log n).
Edits combine_edits(std::span<const Edits* const> changes);

}  // namespace fathom

// How rows of a comparison are called, and what they are parts of.
#pragma once

#include <vector>

#include "compare/align.h"
#include "compare/comparison.h"

namespace fathom {

/// "aten::mm"; "aten::pow, aten::tanh → aten::gelu" for what is in another's place.
SharedText label_of(const AlignedWork& work);
/// The module of all rows, or "".
SharedText module_of(const AlignedWork& work);
/// Of work on a device the phase of all rows, or "several phases"; of idle time "device idle";
/// without a device the bucket.
SharedText phase_of(const AlignedWork& work);
/// Where one list of shapes is all of it.
SharedText shapes_of(const AlignedWork& work);
/// "train.py:42", of new before base.
SharedText place_of(const AlignedWork& work);

/// Rows, which are in the order of their change, by phase and module.
std::vector<ComparedPhase> phases_of(const std::vector<ComparedRow>& rows);

}  // namespace fathom

// Ranges of the program that a recording has as operators.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/structure/nesting.h"
#include "store/trace.h"

namespace fathom {

/// By its name: an annotation of torch's, whatever it was recorded as. Kineto of torch 1.8 wrote
/// them as operators.
bool is_named_annotation(std::string_view name);

/// By name: ranges of the program that were recorded as operators; empty where there are none.
/// PyTorch up to 1.10 wrote record_function so; later ones write annotations, of which such
/// recordings have none. A range is known by what operators lack: `::` in its name, arguments, a
/// sequence number; it lies in no operator, and holds some. Where no name has `::`, as those of the
/// first profilers and of other programs, that tells nothing: none is a range. O(slices).
std::vector<bool> ranges_among_operators(const Trace& trace, const Nesting& nesting);

}  // namespace fathom

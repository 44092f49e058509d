// What a mistyped name of a slice was meant to be.
#pragma once

#include <string_view>

#include "store/trace.h"

namespace fathom {

/// The name of a slice that nearest() finds closest to `word`, other than itself; of equally close
/// ones the first by the alphabet. Empty when none is close, and for words of one or two letters,
/// to which everything short is. The text lives as long as the trace.
/// O(slices + names · log names).
std::string_view nearest_slice_name(const Trace& trace, std::string_view word);

}  // namespace fathom

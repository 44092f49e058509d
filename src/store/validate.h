// What every trace promises to those who read it, checked.
#pragma once

#include <string>

#include "store/trace.h"

namespace fathom {

/// The first promise of store/trace.h that `trace` breaks, as a sentence, or "". For tests and
/// fuzzing: readers keep these promises whatever the input. O(rows).
std::string broken_promise(const Trace& trace);

}  // namespace fathom

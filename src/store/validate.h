// What every trace promises to those who read it, checked.
#pragma once

#include <string>

#include "store/trace.h"

namespace fathom {

/// The first promise of store/trace.h that `trace` breaks, as a sentence, or "". Readers keep these
/// promises whatever the input, which tests and fuzzing check; of a trace that was kept in a file
/// it is checked before it is believed. O(rows), at about the speed of memory.
std::string broken_promise(const Trace& trace);

}  // namespace fathom

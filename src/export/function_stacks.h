// A profile of functions as stacks of one frame, for formats that know stacks alone.
#pragma once

#include "store/trace.h"

namespace fathom {

/// A sample for each function that took time of its own, weighing that time, by process. Who called
/// whom is not in it. O(functions).
Trace stacks_of_functions(const Trace& trace);

/// Are functions all that could be written as stacks?
bool only_functions_have_stacks(const Trace& trace);

}  // namespace fathom

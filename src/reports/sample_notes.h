// What tables of sampled threads say of what was not sampled.
#pragma once

#include <string>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Adds notes where processes were left to PyTorch's profiler, and where threads or processes ended
/// before they were looked at.
void note_unsampled(const Trace& trace, std::vector<std::string>& notes);

/// Adds a note where another profiler recorded the stacks: what it does not tell.
void note_weights(const Trace& trace, std::vector<std::string>& notes);

}  // namespace fathom

// Sampled stacks as lists of frames, and what a frame is called.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Rows of its frames, the outermost first; none for kNoFrame. `rows` is overwritten.
void frames_of(const Trace& trace, std::uint32_t frame, std::vector<std::uint32_t>& rows);

/// "work (app.py:12)".
std::string frame_text(const Trace& trace, std::uint32_t frame);

/// In place of a stack without Python: "[sort]".
std::string thread_text(const Trace& trace, const StackSample& sample);

}  // namespace fathom

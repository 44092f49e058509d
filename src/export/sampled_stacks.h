// Sampled stacks as exporters write them: the time on a processor, by thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "export/writer.h"
#include "store/trace.h"

namespace fathom {

using SampledThread = std::pair<std::int64_t, std::int64_t>;  // pid, tid

/// Rows of Trace::stack_samples whose threads had run, by thread, in the order of the recording.
std::map<SampledThread, std::vector<std::uint32_t>> samples_by_thread(
    const Trace& trace, const WriteSelection& selection);

/// Rows of its frames, the outermost first.
void frames_of(const Trace& trace, std::uint32_t frame, std::vector<std::uint32_t>& rows);

/// "work (app.py:12)".
std::string frame_text(const Trace& trace, std::uint32_t frame);

/// In place of a stack without Python: "[sort]".
std::string thread_text(const Trace& trace, const StackSample& sample);

}  // namespace fathom

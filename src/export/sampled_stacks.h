// Sampled stacks as exporters write them: the time on a processor, by thread.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "export/writer.h"
#include "store/trace.h"

namespace fathom {

using SampledThread = std::pair<std::int64_t, std::int64_t>;  // pid, tid

/// Rows of Trace::stack_samples whose threads had run, by thread, in the order of the recording.
std::map<SampledThread, std::vector<std::uint32_t>> samples_by_thread(
    const Trace& trace, const WriteSelection& selection);

}  // namespace fathom

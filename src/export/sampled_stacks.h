// Sampled stacks as exporters write them: the time that was selected, by thread.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "export/writer.h"
#include "store/trace.h"

namespace fathom {

using SampledThread = std::pair<std::int64_t, std::int64_t>;  // pid, tid

/// What a thread spent with a stack.
struct SampledPart {
  std::uint32_t row = 0;  ///< Of Trace::stack_samples.
  Duration time{};
  bool is_blocked = false;  ///< It is to end with kBlockedFrame.
};

/// By thread, in the order of the recording; each part is more than nothing.
std::map<SampledThread, std::vector<SampledPart>> samples_by_thread(
    const Trace& trace, const WriteSelection& selection);

}  // namespace fathom

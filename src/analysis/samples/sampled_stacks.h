// Distinct stacks of sampled threads and their time, for flame graphs.
#pragma once

#include <cstdint>
#include <vector>

#include "store/sampled_time.h"
#include "store/stack_texts.h"
#include "store/trace.h"

namespace fathom {

/// One distinct stack.
struct SampledStack {
  StackTexts::Node stack = 0;
  Duration time{};
  std::int64_t count = 0;  ///< Samples that end in it.
};

struct SampledStacks {
  StackTexts texts;
  std::vector<SampledStack> stacks;  ///< Largest first.
};

/// The sum is the time of all sampled threads; what has no Python stack is under its thread's name.
/// Frames beyond the outermost 1000 belong to the last of these. O((samples + frames) * log
/// frames), however deep the stacks are. The trace must outlive it.
SampledStacks sampled_stacks(const Trace& trace, SampledTime of);

}  // namespace fathom

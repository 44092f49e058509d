// Time in which the main thread stood still inside operators: it waited for a processor.
#pragma once

#include <cstddef>

#include "rules/rule.h"

namespace fathom {

struct Stalls {
  Duration time{};  ///< What the calls took beyond their usual time, in counted steps.
  std::size_t calls = 0;
};

/// Calls of PyTorch's operators that take at least 20 times and 1 ms more than the same call in
/// most of the counted steps: the n-th of that name in a step is the same as the n-th in another,
/// where each step calls as many. What is done only once is none. Nothing of fewer than three
/// steps, and of programs with a device, whose calls wait for it. O(main thread).
Stalls find_stalls(const RuleContext& rules);

}  // namespace fathom

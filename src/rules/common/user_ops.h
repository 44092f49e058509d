// The operators that a program asks for by itself, in its order: what loops and repetition show in.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace fathom {

/// One of them, with the step that it counts in.
struct UserOp {
  SliceId op{};
  SliceId parent{};  ///< The annotation or Python function around it, or invalid.
  const Step* step = nullptr;
};

/// Operators of a thread in counted steps that no operator of the framework ("aten::…") called, by
/// time. Ranges of Python code that are recorded as operators (an autograd.Function, a module's
/// forward) do not count as such. O(thread * log steps).
std::vector<UserOp> user_ops(const RuleContext& rules, const Nesting::Thread& thread);

}  // namespace fathom

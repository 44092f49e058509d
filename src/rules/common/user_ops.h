// The operators that a program asks for by itself, in its order: what loops and repetition show in.
#pragma once

#include <vector>

#include "rules/common/names.h"
#include "rules/rule.h"

namespace fathom {

/// One of them, with the step that it counts in.
struct UserOp {
  SliceId op{};
  SliceId parent{};  ///< The annotation or Python function around it, or invalid.
  const Step* step = nullptr;
};

/// Operators of threads in counted steps that no operator of the framework ("aten::…") called, by
/// time. Ranges of Python code that are recorded as operators (an autograd.Function, a module's
/// forward) do not count as such.
class UserOps {
 public:
  /// O(names). Borrows the context.
  explicit UserOps(const RuleContext& rules);
  /// O(thread * log steps).
  [[nodiscard]] std::vector<UserOp> of(const Nesting::Thread& thread) const;

 private:
  const RuleContext& rules_;
  NameSet framework_;
};

}  // namespace fathom

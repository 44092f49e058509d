// Lists the operators that a program calls by itself.
#include "rules/common/user_ops.h"

namespace fathom {
namespace {

bool is_of_framework(std::string_view name) { return name.find("::") != std::string_view::npos; }

}  // namespace

UserOps::UserOps(const RuleContext& rules)
    : rules_(rules), framework_(rules.trace(), is_of_framework) {}

std::vector<UserOp> UserOps::of(const Nesting::Thread& thread) const {
  const Trace& trace = rules_.trace();
  const Column<SliceId>& parent = rules_.context.nesting().parent;
  std::vector<UserOp> found;
  Time covered = Time::min();
  for (const SliceId slice : thread.slices) {
    const Time start = trace.slices.start[slice.row()];
    if (start < covered || trace.kind(slice) != SliceKind::cpu_op ||
        !framework_.contains(trace.slices.name[slice.row()])) {
      continue;
    }
    covered = trace.slices.end(slice);
    if (const Step* const step = rules_.step_at(start)) {
      found.push_back({.op = slice, .parent = parent[slice.row()], .step = step});
    }
  }
  return found;
}

}  // namespace fathom

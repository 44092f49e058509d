// Lists the operators that a program calls by itself.
#include "rules/common/user_ops.h"

#include "rules/common/names.h"

namespace fathom {
namespace {

bool is_of_framework(std::string_view name) { return name.find("::") != std::string_view::npos; }

}  // namespace

std::vector<UserOp> user_ops(const RuleContext& rules, const Nesting::Thread& thread) {
  const Trace& trace = rules.trace();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  const NameSet framework(trace, is_of_framework);
  std::vector<UserOp> found;
  Time covered = Time::min();
  for (const SliceId slice : thread.slices) {
    const Time start = trace.slices.start[slice.row()];
    if (start < covered || trace.kind(slice) != SliceKind::cpu_op ||
        !framework.contains(trace.slices.name[slice.row()])) {
      continue;
    }
    covered = trace.slices.end(slice);
    if (const Step* const step = rules.step_at(start)) {
      found.push_back({.op = slice, .parent = parent[slice.row()], .step = step});
    }
  }
  return found;
}

}  // namespace fathom

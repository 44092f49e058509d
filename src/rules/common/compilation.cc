// Finds compilers and autotuners in a recording by their names.
#include "rules/common/compilation.h"

#include "analysis/structure/compilation_names.h"
#include "analysis/structure/stretches.h"
#include "rules/common/host_work.h"
#include "rules/common/names.h"

namespace fathom {

Compilation compilation_in(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Nesting& nesting = rules.context.nesting();
  Compilation found;
  add_outermost(rules, nesting.work, NameSet(trace, is_compiling_range), found.slices);
  add_outermost(rules, nesting.frames, NameSet(trace, is_compiling_frame), found.slices);
  for (const SliceId slice : found.slices) found.stretches.push_back(interval_of(trace, slice));
  found.stretches = merged(std::move(found.stretches));
  return found;
}

}  // namespace fathom

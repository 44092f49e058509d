// Walks from a slice outwards until a name is met.
#include "rules/common/names.h"

namespace fathom {

SliceId enclosing(const RuleContext& rules, SliceId slice, const NameSet& names) {
  const Trace& trace = rules.trace();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  SliceId at = slice;
  while (at.valid() && !names.contains(trace.slices.name[at.row()])) at = parent[at.row()];
  return at;
}

bool changes_layout(std::string_view name) {
  return name == "aten::contiguous" || name == "aten::clone" || name == "aten::reshape" ||
         name == "aten::transpose_copy" || name == "aten::permute_copy";
}

bool enclosing_frame(const RuleContext& rules, SliceId frame, const NameSet& names) {
  return names.any() && enclosing(rules, frame, names).valid();
}

}  // namespace fathom

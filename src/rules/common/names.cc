// Walks from a slice outwards until a name is met.
#include "rules/common/names.h"

namespace fathom {

SliceId enclosing(const RuleContext& rules, SliceId slice, const NameSet& names) {
  if (!names.any()) return {};
  const Column<StringId>& name = rules.trace().slices.name;
  return innermost_around(names.around(), rules.context.nesting().parent, slice,
                          [&](SliceId at) { return names.contains(name[at.row()]); });
}

bool changes_layout(std::string_view name) {
  return name == "aten::contiguous" || name == "aten::clone" || name == "aten::reshape" ||
         name == "aten::transpose_copy" || name == "aten::permute_copy";
}

bool enclosing_frame(const RuleContext& rules, SliceId frame, const NameSet& names) {
  return enclosing(rules, frame, names).valid();
}

}  // namespace fathom

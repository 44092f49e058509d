// Looks for events of a kind that is known.
#include "rules/common/only_bars.h"

#include <algorithm>

namespace fathom {

bool only_bars(const RuleContext& rules) {
  const auto known = [](const Category& category) {
    return category.slices > 0 && category.kind != SliceKind::other;
  };
  return rules.device < 0 && std::ranges::none_of(rules.trace().categories, known);
}

}  // namespace fathom

// The costliest of several operators, named with their times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rules/rule.h"

namespace fathom {

/// "aten::copy_ 52.8 ms, aten::eq 40.1 ms": the costliest three, per step. `times` are of the
/// counted steps together.
std::string costliest_names(const RuleContext& rules,
                            std::vector<std::pair<Duration, StringId>> times);

}  // namespace fathom

// Whether a program that is not known wrote all events.
#pragma once

#include "rules/rule.h"

namespace fathom {

/// Inside the bars of such a file, and between them, its program may do anything.
bool only_bars(const RuleContext& rules);

}  // namespace fathom

// What a recording was made under, as far as it decides whether two may be compared.
#pragma once

#include <vector>

#include "compare/profile.h"
#include "compare/step_windows.h"
#include "engine/diagnosis/judged_steps.h"

namespace fathom {

/// In the order in which they are shown; a value is empty where it was not recorded. O(n).
std::vector<Condition> conditions_of(const Context& context, const UsualSteps& steps,
                                     const StepWindows& windows);

}  // namespace fathom

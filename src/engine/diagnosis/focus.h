// The calls of one module, annotation or operator, looked at as if each were a step.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/context.h"
#include "base/result.h"

namespace fathom {

/// One step per outermost call of `name` that starts in the selected time: its own span on the
/// host, and a window from there (or from the end of the window before) to the end of all that was
/// launched meanwhile. `name` is that of an annotation, operator, module ("Linear_0") or Python
/// frame, as recorded; else a phase ("forward", "backward", "optimizer", "data", "communication"),
/// whose calls are its stretches that no other phase interrupts; else a part of a name. Calls on
/// several threads are taken from the one with most of them. Errors: invalid_argument when nothing
/// has that name, with the closest that there is.
Result<std::vector<Step>> focus_steps(const Context& context, std::string_view name);

}  // namespace fathom

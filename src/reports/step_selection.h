// Which steps a selection takes, and the stretch of time they make up on a device.
#pragma once

#include <vector>

#include "analysis/context.h"

namespace fathom {

/// Is this step selected? By its number, and where a window is selected by overlapping it.
bool selects_step(const Context& context, const Step& step);

/// What an overview of a device looks at: the selected window where there is a selection of time,
/// else from the start of the first step of the processes that use the device to the end of the
/// last.
Interval overview_window(const Context& context, std::int32_t device);

}  // namespace fathom

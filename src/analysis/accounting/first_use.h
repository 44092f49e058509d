// What runs slowly because it is used for the first time in a recording.
#pragma once

#include <vector>

#include "analysis/accounting/one_off.h"
#include "analysis/context.h"

namespace fathom {

/// First calls, launches and operators that take at least a millisecond, as far as they do not wait
/// for the device. An operator whose later calls take as long is none. O(n log n).
std::vector<OneOff> first_uses(const Context& context);

}  // namespace fathom

// Which correlation and External ids name something.
#pragma once

#include <cstdint>

#include "store/trace.h"

namespace fathom {

/// Recorders write 0 for "none".
constexpr bool is_recorded_id(std::int64_t id) { return id != kAbsent && id != 0; }

}  // namespace fathom

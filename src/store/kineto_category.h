// How today's Kineto files spell what a slice is.
#pragma once

#include <string_view>

#include "store/trace.h"

namespace fathom {

/// "gpu_memcpy" of a copy. Of SliceKind::other, for which they have no word, "other".
std::string_view kineto_category(SliceKind kind);

}  // namespace fathom

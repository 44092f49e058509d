// Texts of the program as permanent ones.
#pragma once

#include <cstdint>

#include "capture/nvtx/api.h"

namespace fathom::nvtx {

/// Null counts as "".
const char* text_of(const char* message);
/// Wide characters as UTF-8.
const char* text_of(const wchar_t* message);
/// A registered string's handle is its permanent text.
const char* text_of(std::int32_t type, const nvtxMessageValue_t& message);

}  // namespace fathom::nvtx

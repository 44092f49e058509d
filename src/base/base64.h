// Bytes as text of 64 characters (RFC 4648, section 4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fathom {

/// With "=" at its end where the last three bytes are not there; without line breaks.
std::string base64(std::string_view bytes);

}  // namespace fathom

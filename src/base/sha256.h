// SHA-256 (FIPS 180-4), which browsers want of a script before they run it.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// The 32 bytes of the digest. For integrity within one file; not tuned for speed.
std::string sha256(std::string_view bytes);

}  // namespace fathom

// What an event may say beyond its name.
#pragma once

#include <cstdint>

namespace fathom::inside {

enum class PayloadKind : std::uint8_t { none, integer, whole, real };

/// Of begin_detailed and its like; one of each kind is enough, it is never freed. Texts are
/// permanent or null.
struct Details {
  const char* domain = nullptr;
  const char* category = nullptr;
  std::uint32_t color = 0;  ///< ARGB.
  bool colored = false;
  PayloadKind payload = PayloadKind::none;  ///< How the 64 bits beside it are to be read.
};

}  // namespace fathom::inside

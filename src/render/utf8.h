// One character of UTF-8 text.
#pragma once

#include <cstddef>
#include <string_view>

namespace fathom {

struct Utf8Char {
  char32_t code = 0;
  std::size_t bytes = 1;  ///< How many bytes it takes; 1 for a byte that is not UTF-8.
  bool valid = false;
};

/// The character at the front of `text`, which must not be empty. Overlong forms and surrogates are
/// not valid.
Utf8Char decode_utf8(std::string_view text);

}  // namespace fathom

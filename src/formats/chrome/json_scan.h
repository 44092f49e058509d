// Scanning JSON text that may be damaged: white space, strings, numbers, brackets. Never reads a
// number of bytes that depends on the text beyond `end + kPadding`, never recurses, never
// allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/simd.h"

namespace fathom::json {

/// Bytes that must be readable, and zero, behind the end of any text given to these functions.
inline constexpr std::size_t kPadding = 64;

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// The first byte at or after `p` that is not white space. Stops at the zero padding.
inline const char* skip_space(const char* p) {
  if (static_cast<unsigned char>(*p) > ' ') return p;
  if (!is_space(*p)) return p;
  ++p;
  if (static_cast<unsigned char>(*p) > ' ') return p;
  for (;;) {
    const simd::Bytes16 text = simd::load(p);
    const simd::Bytes16 space = (equal(text, simd::filled(' ')) | equal(text, simd::filled('\n'))) |
                                (equal(text, simd::filled('\r')) | equal(text, simd::filled('\t')));
    const unsigned other = mask_of(space) ^ 0xffffU;
    if (other != 0) return p + __builtin_ctz(other);
    p += 16;
  }
}

/// The first quote, backslash or control character at or after `p`. The zero padding is a control
/// character.
inline const char* find_string_special(const char* p) {
  const simd::Bytes16 quote = simd::filled('"');
  const simd::Bytes16 backslash = simd::filled('\\');
  for (;; p += 16) {
    const simd::Bytes16 text = simd::load(p);
    const unsigned mask =
        mask_of((equal(text, quote) | equal(text, backslash)) | at_most(text, 0x1f));
    if (mask != 0) return p + __builtin_ctz(mask);
  }
}

/// The closing quote of the string whose first character is at `p`, or nullptr when the text ends
/// first.
inline const char* find_string_end(const char* p, const char* end) {
  for (;;) {
    p = find_string_special(p);
    if (p >= end) return nullptr;
    if (*p == '"') return p;
    p += *p == '\\' ? 2 : 1;
  }
}

/// The byte after the bracket that closes the one at `p` ('[' or '{'), or nullptr when the text
/// ends first.
const char* find_bracket_end(const char* p, const char* end);

/// The byte after the value at `p` (no leading white space), or nullptr when the text ends first.
/// Values that are not JSON (NaN, bare words) end at the next comma, bracket or white space.
inline const char* find_value_end(const char* p, const char* end) {
  if (*p == '"') {
    const char* const close = find_string_end(p + 1, end);
    return close == nullptr ? nullptr : close + 1;
  }
  if (*p == '[' || *p == '{') return find_bracket_end(p, end);
  while (*p != ',' && *p != '}' && *p != ']' && !is_space(*p)) {
    if (++p >= end) return nullptr;
  }
  return p;
}

/// How many decimal digits stand at `p` (at most 16 counted), and their value.
struct Digits {
  std::uint64_t value;
  unsigned count;
};
inline Digits read_digits(const char* p) {
  const simd::Bytes16 text = less(simd::load(p), '0');
  const unsigned digits = mask_of(at_most(text, 9));
  const auto count = static_cast<unsigned>(__builtin_ctz(~digits | 0x10000U));
  return {decimal(text, count), count};
}

}  // namespace fathom::json

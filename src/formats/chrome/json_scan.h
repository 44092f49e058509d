// Scanning JSON text that may be damaged: white space, strings, numbers, brackets. Never reads a
// number of bytes that depends on the text beyond `end + kPadding`, never recurses, never
// allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <emmintrin.h>
#include <smmintrin.h>
#include <tmmintrin.h>

namespace fathom::json {

/// Bytes that must be readable, and zero, behind the end of any text given to these functions.
inline constexpr std::size_t kPadding = 64;

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline __m128i load16(const char* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline unsigned mask_of(__m128i flags) { return static_cast<unsigned>(_mm_movemask_epi8(flags)); }

/// The first byte at or after `p` that is not white space. Stops at the zero padding.
inline const char* skip_space(const char* p) {
  if (static_cast<unsigned char>(*p) > ' ') return p;
  if (!is_space(*p)) return p;
  ++p;
  if (static_cast<unsigned char>(*p) > ' ') return p;
  for (;;) {
    const __m128i text = load16(p);
    const __m128i space = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8(' ')),
                                                    _mm_cmpeq_epi8(text, _mm_set1_epi8('\n'))),
                                       _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('\r')),
                                                    _mm_cmpeq_epi8(text, _mm_set1_epi8('\t'))));
    const unsigned other = mask_of(space) ^ 0xffffU;
    if (other != 0) return p + __builtin_ctz(other);
    p += 16;
  }
}

/// The first quote, backslash or control character at or after `p`. The zero padding is a control
/// character.
inline const char* find_string_special(const char* p) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  for (;; p += 16) {
    const __m128i text = load16(p);
    const __m128i special =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(text, quote), _mm_cmpeq_epi8(text, backslash)),
                     _mm_cmpeq_epi8(_mm_min_epu8(text, last_control), text));
    const unsigned mask = mask_of(special);
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
  const __m128i text = _mm_sub_epi8(load16(p), _mm_set1_epi8('0'));
  const __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(text, _mm_set1_epi8(9)), text);
  const unsigned count = static_cast<unsigned>(__builtin_ctz(~mask_of(digit) | 0x10000U));
  // Move the digits to the end of the register, zeros in front: index < 0 selects zero.
  const __m128i index =
      _mm_add_epi8(_mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                   _mm_set1_epi8(static_cast<char>(static_cast<int>(count) - 16)));
  const __m128i aligned = _mm_shuffle_epi8(text, index);
  const __m128i tens = _mm_maddubs_epi16(
      aligned, _mm_set_epi8(1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10));
  const __m128i hundreds = _mm_madd_epi16(tens, _mm_set_epi16(1, 100, 1, 100, 1, 100, 1, 100));
  const __m128i packed = _mm_packus_epi32(hundreds, hundreds);
  const __m128i eights =
      _mm_madd_epi16(packed, _mm_set_epi16(1, 10000, 1, 10000, 1, 10000, 1, 10000));
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  return {(both & 0xffffffffU) * 100000000U + (both >> 32U), count};
}

}  // namespace fathom::json

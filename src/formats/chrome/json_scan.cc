// Matching brackets sixteen bytes at a time.
#include "formats/chrome/json_scan.h"

namespace fathom::json {

const char* find_bracket_end(const char* p, const char* end) {
  // '[' | 0x20 == '{' and ']' | 0x20 == '}': both kinds of bracket in one comparison each.
  const __m128i lower = _mm_set1_epi8(0x20);
  const __m128i open = _mm_set1_epi8('{');
  const __m128i close = _mm_set1_epi8('}');
  const __m128i quote = _mm_set1_epi8('"');
  unsigned depth = 0;
  while (p < end) {
    const __m128i text = load16(p);
    const __m128i folded = _mm_or_si128(text, lower);
    unsigned opens = mask_of(_mm_cmpeq_epi8(folded, open));
    unsigned closes = mask_of(_mm_cmpeq_epi8(folded, close));
    const unsigned quotes = mask_of(_mm_cmpeq_epi8(text, quote));
    if (quotes != 0) {  // look only at what stands before the string
      const unsigned before = (quotes & (0U - quotes)) - 1;
      opens &= before;
      closes &= before;
    }
    if (static_cast<unsigned>(__builtin_popcount(closes)) < depth) {
      depth += static_cast<unsigned>(__builtin_popcount(opens)) -
               static_cast<unsigned>(__builtin_popcount(closes));
    } else {
      for (unsigned brackets = opens | closes; brackets != 0; brackets &= brackets - 1) {
        const unsigned bit = brackets & (0U - brackets);
        if ((opens & bit) != 0) {
          ++depth;
        } else if (--depth == 0) {
          const char* const after = p + __builtin_ctz(bit) + 1;
          return after <= end ? after : nullptr;
        }
      }
    }
    if (quotes == 0) {
      p += 16;
      continue;
    }
    const char* const string = p + __builtin_ctz(quotes) + 1;
    if (string > end) return nullptr;
    const char* const string_end = find_string_end(string, end);
    if (string_end == nullptr) return nullptr;
    p = string_end + 1;
  }
  return nullptr;
}

}  // namespace fathom::json

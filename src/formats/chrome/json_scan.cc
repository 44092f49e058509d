// Matching brackets sixteen bytes at a time.
#include "formats/chrome/json_scan.h"

namespace fathom::json {

const char* find_bracket_end(const char* p, const char* end) {
  // '[' | 0x20 == '{' and ']' | 0x20 == '}': both kinds of bracket in one comparison each.
  const simd::Bytes16 lower = simd::filled(0x20);
  const simd::Bytes16 open = simd::filled('{');
  const simd::Bytes16 close = simd::filled('}');
  const simd::Bytes16 quote = simd::filled('"');
  unsigned depth = 0;
  while (p < end) {
    const simd::Bytes16 text = simd::load(p);
    const simd::Bytes16 folded = text | lower;
    unsigned opens = mask_of(equal(folded, open));
    unsigned closes = mask_of(equal(folded, close));
    const unsigned quotes = mask_of(equal(text, quote));
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

// Replaces characters that an ASCII terminal does not show.
#include "render/charset.h"

#include "base/utf8.h"
#include "render/text_width.h"

namespace fathom {
namespace {

char ascii_for(char32_t code) {
  switch (code) {
    case U'µ':
      return 'u';
    case U'×':
      return 'x';
    case U'−':
    case U'–':
    case U'—':
      return '-';
    case U'→':
      return '>';
    case U'·':
      return '.';
    case U'•':
      return '*';
    case U'…':
      return '~';
    case U'█':
      return '#';
    case U'▓':
      return '=';
    case U'▒':
      return '+';
    case U'░':
      return ':';
    default:
      return '?';
  }
}

}  // namespace

std::string in_charset(std::string_view text, const Style& style) {
  if (!style.ascii) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    const std::string_view bytes = text.substr(0, c.bytes);
    if (c.valid && c.code < 0x80) {
      out += bytes;
    } else {
      out.append(display_width(bytes), ascii_for(c.valid ? c.code : U'?'));
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace fathom

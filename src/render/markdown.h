// Text within markdown.
#pragma once

#include <string>
#include <string_view>

#include "render/text_width.h"

namespace fathom {

/// Names as they are, also in a table: what markdown would take for its own is escaped.
inline std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace fathom

// Text within markdown.
#pragma once

#include <cstddef>
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

/// The longest text in a cell; names, inputs and conditions may be of any length.
inline constexpr std::size_t kLongestCell = 400;
/// GitHub refuses a step summary above 1 MiB.
inline constexpr std::size_t kLargestMarkdown = 1'000'000;

/// The same in at most so many columns.
inline std::string short_cell(std::string_view text, std::size_t columns = kLongestCell) {
  return markdown_cell(shorten_middle(printable(text), columns));
}

}  // namespace fathom

// Escapes text for HTML and SVG.
#include "render/page/html.h"

#include <array>
#include <cstdio>

#include "base/markup.h"
#include "base/text_fields.h"
#include "render/text_width.h"

namespace fathom::page {

std::string escaped(std::string_view text) {
  return markup_escaped(shorten_middle(printable(text), kLongestText));
}

std::string escaped_lines(std::string_view text) {
  std::string out;
  for (std::size_t line = 0; !text.empty(); ++line) {
    out += (line == 0 ? "" : "\n") + escaped(take_line(text));
  }
  return out;
}

std::string coordinate(double number) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.2f", number);
  return text.data();
}

}  // namespace fathom::page

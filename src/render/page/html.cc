// Escapes text and makes links for the diagnosis page.
#include "render/page/html.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "render/text_width.h"

namespace fathom::page {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : shorten_middle(printable(text), kLongestText)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escaped_lines(std::string_view text) {
  std::string out;
  for (std::size_t line = 0; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += (line == 0 ? "" : "\n") + escaped(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string term_anchor(std::string_view term) {
  std::string anchor = "term-" + std::string(term);
  std::ranges::replace(anchor, ' ', '-');
  return anchor;
}

std::string term_link(std::string_view term, std::string_view text) {
  return "<a class=\"term\" href=\"#" + term_anchor(term) + "\">" + std::string(text) + "</a>";
}

std::string coordinate(double number) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.2f", number);
  return text.data();
}

std::string section(std::string_view id, std::string_view title, const std::string& inner) {
  return "<section id=\"" + std::string(id) + "\"><h2>" + std::string(title) + "</h2>\n" + inner +
         "</section>\n";
}

}  // namespace fathom::page

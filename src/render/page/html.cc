#include "render/page/html.h"

#include <array>
#include <cstdio>

#include "render/text_width.h"

namespace fathom::page {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
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

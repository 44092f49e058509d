// Escapes a text as a JSON string.
#include "base/json_quote.h"

#include <array>
#include <cstdio>

namespace fathom {

std::string json_quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json.push_back('\\');
    if (static_cast<unsigned char>(c) >= 0x20) {
      json.push_back(c);
      continue;
    }
    std::array<char, 8> escape{};
    std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
    json.append(escape.data());
  }
  return json + '"';
}

}  // namespace fathom

// UTF-8 and JSON by simdjson's rules.
#include "formats/fathom_wire/texts.h"

#include <array>
#include <cstdio>

#include <simdjson.h>

namespace fathom::own {
namespace {

/// The length of the character of UTF-8 at the front, or 0.
std::size_t character(std::string_view text) {
  for (std::size_t size = 1; size <= 4 && size <= text.size(); ++size) {
    if (simdjson::validate_utf8(text.data(), size)) return size;
  }
  return 0;
}

void quote(std::string_view text, std::string& json) {
  json.push_back('"');
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
  json.push_back('"');
}

}  // namespace

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string mended_utf8(std::string_view text) {
  std::string mended;
  while (!text.empty()) {
    const std::size_t size = character(text);
    mended.append(size == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, size));
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return mended;
}

std::string json_value(std::string_view value) {
  std::string json;
  if (value.starts_with('{') || value.starts_with('[')) {
    simdjson::dom::parser parser;
    simdjson::dom::element element;
    if (parser.parse(value.data(), value.size()).get(element) == simdjson::SUCCESS)
      return simdjson::minify(element);
  }
  quote(value, json);
  return json;
}

}  // namespace fathom::own

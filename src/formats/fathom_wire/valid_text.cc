// Repairs UTF-8 and quotes JSON for texts of a capture file.
#include "formats/fathom_wire/valid_text.h"

#include <simdjson.h>

#include "base/json_quote.h"

namespace fathom::own {
namespace {

/// The length of the character of UTF-8 at the front, or 0.
std::size_t character(std::string_view text) {
  for (std::size_t size = 1; size <= 4 && size <= text.size(); ++size) {
    if (simdjson::validate_utf8(text.data(), size)) return size;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string valid_utf8(std::string_view text) {
  std::string fixed;
  while (!text.empty()) {
    const std::size_t size = character(text);
    fixed.append(size == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, size));
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return fixed;
}

std::string json_value(std::string_view value) {
  if (value.starts_with('{') || value.starts_with('[')) {
    simdjson::dom::parser parser;
    simdjson::dom::element element;
    if (parser.parse(value.data(), value.size()).get(element) == simdjson::SUCCESS)
      return simdjson::minify(element);
  }
  return json_quoted(value);
}

}  // namespace fathom::own

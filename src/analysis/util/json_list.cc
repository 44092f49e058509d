// Splits canonical JSON lists without building a document.
#include "analysis/util/json_list.h"

#include <charconv>

namespace fathom {

std::vector<std::string_view> json_elements(std::string_view list) {
  std::vector<std::string_view> out;
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return out;
  const std::string_view inside = list.substr(1, list.size() - 2);
  if (inside.empty()) return out;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const char c = inside[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      out.push_back(inside.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  out.push_back(inside.substr(begin));
  return out;
}

std::optional<std::vector<std::int64_t>> json_integers(std::string_view list) {
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return std::nullopt;
  std::vector<std::int64_t> out;
  for (std::string_view element : json_elements(list)) {
    while (!element.empty() && element.front() == ' ') element.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(element.data(), element.data() + element.size(), value);
    if (error != std::errc() || end != element.data() + element.size()) return std::nullopt;
    out.push_back(value);
  }
  return out;
}

std::string_view json_unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  return text.substr(1, text.size() - 2);
}

std::string flat_shapes(std::string_view shapes) {
  std::string out = "[";
  for (const std::string_view shape : json_elements(shapes)) {
    if (out.size() > 1) out += ", ";
    const bool nested = shape.find('[', 1) != std::string_view::npos;
    if (nested || shape.empty() || shape.front() != '[') {
      out += "[]";
      continue;
    }
    for (const char c : shape) {
      out += c;
      if (c == ',') out += ' ';
    }
  }
  return out + "]";
}

}  // namespace fathom

// Decodes targets, strictly: what is unusual is refused rather than interpreted.
#include "server/http/target.h"

namespace fathom::server {
namespace {

Error wrong(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// application/x-www-form-urlencoded, as browsers write it.
Result<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
      if (high < 0 || low < 0 || high + low == 0) return wrong("a parameter has a broken escape");
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '/';
}

Result<void> check_path(std::string_view path) {
  if (path.empty() || path.front() != '/') return wrong("the path does not begin with a slash");
  for (const char c : path) {
    if (!plain(c)) return wrong("the path has a character that no path here has");
  }
  if (path.find("//") != std::string_view::npos || path.find("/.") != std::string_view::npos)
    return wrong("the path has a part that no path here has");
  return {};
}

Result<void> add_parameter(std::string_view text, Parameters& parameters) {
  if (text.empty()) return {};
  const std::size_t equals = text.find('=');
  Result<std::string> name = decoded(text.substr(0, equals));
  if (!name) return std::move(name).error();
  Result<std::string> value =
      equals == std::string_view::npos ? std::string() : decoded(text.substr(equals + 1));
  if (!value) return std::move(value).error();
  parameters.emplace_back(*std::move(name), *std::move(value));
  return {};
}

}  // namespace

const std::string* Target::find(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::vector<std::string> Target::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : parameters) {
    if (key == name) values.push_back(value);
  }
  return values;
}

Result<Target> parse_target(std::string_view target) {
  const std::size_t mark = target.find('?');
  Target parsed;
  parsed.path = target.substr(0, mark);
  Result<void> checked = check_path(parsed.path);
  if (!checked) return std::move(checked).error();
  std::string_view rest = mark == std::string_view::npos ? "" : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find('&');
    Result<void> added = add_parameter(rest.substr(0, end), parsed.parameters);
    if (!added) return std::move(added).error();
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return parsed;
}

}  // namespace fathom::server

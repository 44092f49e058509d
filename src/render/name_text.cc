#include "render/name_text.h"

#include <cctype>

#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::string_view kReturnType = "void ";
constexpr std::string_view kAnonymous = "(anonymous namespace)::";

/// Where the argument list at the end begins, or npos: "f<int>(int, char*) const" has one at
/// "(int".
std::size_t argument_list(std::string_view name) {
  if (name.ends_with(" const")) name.remove_suffix(6);
  if (!name.ends_with(')')) return std::string_view::npos;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? std::string_view::npos : at;
  }
  return std::string_view::npos;
}

bool is_cpp_function(std::string_view name) {
  return name.starts_with(kReturnType) ||
         (name.find("::") != std::string_view::npos && name.find('<') != std::string_view::npos);
}

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

bool is_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// "at::native::f<c10::Half>" becomes "f<Half>".
std::string without_namespaces(std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    if (name.substr(at).starts_with("::")) {
      while (!out.empty() && is_identifier(out.back())) out.pop_back();
      at += 2;
      continue;
    }
    out += name[at++];
  }
  return out;
}

}  // namespace

std::string shorten_name(std::string_view name, std::size_t width) {
  if (display_width(name) <= width || !is_cpp_function(name)) return shorten_middle(name, width);
  std::string text(name);
  if (text.starts_with(kReturnType)) text.erase(0, kReturnType.size());
  if (display_width(text) <= width) return text;
  erase_all(text, kAnonymous);
  if (display_width(text) <= width) return text;
  if (const std::size_t arguments = argument_list(text); arguments != std::string::npos) {
    text.resize(arguments);
  }
  if (display_width(text) <= width) return text;
  return shorten_middle(without_namespaces(text), width);
}

}  // namespace fathom

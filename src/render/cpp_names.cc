// Shortens C++ function names by leaving out parts.
#include "render/cpp_names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace fathom {
namespace {

constexpr std::string_view kReturnType = "void ";
constexpr std::string_view kAnonymous = "(anonymous namespace)::";
constexpr std::string_view kConst = " const";
/// Deeper nesting than this is not read: names are input, and input is hostile.
constexpr int kDeepest = 64;

bool is_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Where the argument list at the end begins, or npos: "f<int>(int, char*) const" has one at
/// "(int". Copies ("Memcpy HtoD (Pageable -> Device)") have a blank there.
std::size_t argument_list(std::string_view name) {
  if (name.ends_with(kConst)) name.remove_suffix(kConst.size());
  if (!name.ends_with(')')) return std::string_view::npos;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) {
      const bool list = at > 0 && (is_identifier(name[at - 1]) || name[at - 1] == '>');
      return list ? at : std::string_view::npos;
    }
  }
  return std::string_view::npos;
}

/// The last blank outside of all brackets, behind which the name begins; 0 without one.
std::size_t name_begin(std::string_view name) {
  std::size_t begin = 0;
  int parentheses = 0;
  int angles = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (c == '(' || c == '{') ++parentheses;
    if (c == ')' || c == '}') --parentheses;
    if (parentheses == 0 && c == '<') ++angles;
    if (parentheses == 0 && c == '>') --angles;
    if (parentheses == 0 && angles == 0 && c == ' ') begin = at + 1;
  }
  return parentheses == 0 && angles == 0 ? begin : 0;
}

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

/// Reads qualified names with template arguments, and writes them without qualification.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  /// The whole text, or "" when it is not understood.
  std::string all() {
    std::string name = qualified(0);
    return good_ && rest_.empty() ? name : std::string();
  }

 private:
  [[nodiscard]] bool at(std::string_view part) const { return rest_.starts_with(part); }
  void skip(std::size_t count) { rest_.remove_prefix(std::min(count, rest_.size())); }

  /// a::b<c>::d up to ',' or '>': its last part that names something.
  std::string qualified(int depth) {
    std::string kept;
    while (good_) {
      std::string part = component(depth);
      if (!part.empty()) kept = std::move(part);
      if (!at("::")) break;
      skip(2);
    }
    return kept;
  }
  /// One part between "::"; "" for a lambda, an operator() and what else has no name.
  std::string component(int depth) {
    std::string text;
    bool named = true;
    while (good_ && !rest_.empty() && !at("::") && rest_.front() != ',' && rest_.front() != '>') {
      const char c = rest_.front();
      if (c == '<') {
        text += arguments(depth);
      } else if (c == '(') {
        balanced('(', ')');
      } else if (c == '{') {
        balanced('{', '}');
        named = false;
      } else {
        text += c;
        skip(1);
        if (text == "operator") return symbol();
      }
    }
    while (text.ends_with(' ')) text.pop_back();
    // "const" behind the arguments of a function around it is all that is left of it.
    const bool blank = text.find_first_not_of(' ') == std::string::npos || text == kConst;
    return named && !blank ? text : std::string();
  }
  /// The rest of "operator()" or "operator+=": it has arguments, but no name.
  std::string symbol() {
    if (at("()")) skip(2);
    while (!rest_.empty() && !is_identifier(rest_.front()) && rest_.front() != '(') skip(1);
    if (at("(")) balanced('(', ')');
    if (at(kConst)) skip(kConst.size());
    return {};
  }
  /// "<a, b>".
  std::string arguments(int depth) {
    good_ = good_ && depth < kDeepest;
    std::string text = "<";
    skip(1);
    while (good_ && !rest_.empty() && rest_.front() != '>') {
      while (at(" ")) skip(1);
      text += qualified(depth + 1);
      if (!at(",")) break;
      text += ", ";
      skip(1);
    }
    good_ = good_ && at(">");
    skip(1);
    return text + '>';
  }
  void balanced(char open, char close) {
    int depth = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == open) ++depth;
      if (rest_[i] == close && --depth == 0) return skip(i + 1);
    }
    good_ = false;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

bool is_cpp_function(std::string_view name) {
  return name.starts_with(kReturnType) || argument_list(name) != std::string_view::npos ||
         (name.find("::") != std::string_view::npos && name.find('<') != std::string_view::npos &&
          name.ends_with('>'));
}

std::string without_signature(std::string_view name) {
  std::string text(name);
  erase_all(text, kAnonymous);
  if (const std::size_t list = argument_list(text); list != std::string::npos) text.resize(list);
  text.erase(0, name_begin(text));
  return text;
}

std::string compact_cpp_name(std::string_view name) {
  const std::string plain = without_signature(name);
  std::string compact = Reader(plain).all();
  return compact.empty() ? plain : compact;
}

}  // namespace fathom

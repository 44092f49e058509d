// JsonWriter: writes JSON piece by piece; commas, line breaks and escapes come by themselves.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/utf8.h"

namespace fathom {

/// What is escaped in strings beside '"' and '\\'.
enum class JsonEscapes : std::uint8_t {
  /// For people and terminals: control characters and DEL (\n, \t, else \u00xx); \ufffd for each
  /// byte that is not UTF-8.
  visible,
  /// One text for one string (RFC 8785): control characters (\b \t \n \f \r, else \u00xx). What is
  /// not UTF-8 stays as it is.
  canonical,
};

namespace json_detail {

inline bool plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

/// Appends the character at the front of `text` and gives the bytes that it took.
template <typename Out>
std::size_t append_special(Out& out, std::string_view text, JsonEscapes escapes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kShort = "\n\t\b\f\r";
  constexpr std::string_view kLetters = "ntbfr";
  const char c = text.front();
  const auto byte = static_cast<unsigned char>(c);
  const bool visible = escapes == JsonEscapes::visible;
  const std::size_t letter = kShort.substr(0, visible ? 2 : kShort.size()).find(c);
  if (c == '"' || c == '\\') {
    out.append(std::string_view(std::array{'\\', c}.data(), 2));
  } else if (letter != std::string_view::npos) {
    out.append(std::string_view(std::array{'\\', kLetters[letter]}.data(), 2));
  } else if (byte < 0x20 || (visible && byte == 0x7f)) {
    const std::array<char, 6> code = {'\\', 'u', '0', '0', kHex[byte >> 4U], kHex[byte & 15U]};
    out.append(std::string_view(code.data(), code.size()));
  } else if (visible) {
    const Utf8Char decoded = decode_utf8(text);
    out.append(decoded.valid ? text.substr(0, decoded.bytes) : std::string_view("\\ufffd"));
    return decoded.bytes;
  } else {
    out.append(text.substr(0, 1));
  }
  return 1;
}

}  // namespace json_detail

/// Appends a string with its quotes. `out` has append(std::string_view) and push_back(char).
template <typename Out>
void append_json_string(Out& out, std::string_view text,
                        JsonEscapes escapes = JsonEscapes::visible) {
  out.push_back('"');
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && json_detail::plain(text[plain])) ++plain;
    if (plain > 0) out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(json_detail::append_special(out, text, escapes));
  }
  out.push_back('"');
}

/// The string with its quotes.
inline std::string json_string(std::string_view text, JsonEscapes escapes = JsonEscapes::visible) {
  std::string out;
  out.reserve(text.size() + 2);
  append_json_string(out, text, escapes);
  return out;
}

/// What stands between the members of an object or list that has any.
struct JsonLayout {
  std::string_view first;  ///< Before the first,
  std::string_view next;   ///< before each other,
  std::string_view last;   ///< and behind the last.
  std::string_view colon;
  bool indented = false;  ///< Then `first`, `next` and `last` end a line.
};
inline constexpr JsonLayout kJsonCompact = {"", ",", "", ":"};
inline constexpr JsonLayout kJsonInline = {"", ", ", "", ": "};
/// A line for each member.
inline constexpr JsonLayout kJsonLines = {"\n", ",\n", "\n", ": ", true};

/// Writes one document, or a value within one. What is opened without a layout has that of what it
/// lies in. `out` and the layouts must outlive it.
template <typename Out>
class BasicJsonWriter {
 public:
  /// `indent` stands before all lines but the first.
  explicit BasicJsonWriter(Out& out, const JsonLayout& layout = kJsonInline,
                           std::string_view indent = {}, JsonEscapes escapes = JsonEscapes::visible)
      : out_(out), layout_(&layout), indent_(indent), escapes_(escapes) {}

  BasicJsonWriter& object() { return open('{', '}', layout()); }
  BasicJsonWriter& object(const JsonLayout& layout) { return open('{', '}', layout); }
  BasicJsonWriter& array() { return open('[', ']', layout()); }
  BasicJsonWriter& array(const JsonLayout& layout) { return open('[', ']', layout); }
  /// Ends the innermost object or list.
  BasicJsonWriter& end() {
    const Level level = levels_.back();
    levels_.pop_back();
    if (level.layout->indented) --depth_;
    if (level.any) line(level.layout->last, level.layout->indented);
    out_.push_back(level.close);
    return *this;
  }
  BasicJsonWriter& key(std::string_view name) {
    place();
    append_json_string(out_, name, escapes_);
    put(layout().colon);
    keyed_ = true;
    return *this;
  }

  BasicJsonWriter& text(std::string_view value) {
    begin_value();
    append_json_string(out_, value, escapes_);
    return *this;
  }
  /// A text that holds nothing to escape.
  BasicJsonWriter& plain_text(std::string_view value) {
    begin_value();
    out_.push_back('"');
    out_.append(value);
    out_.push_back('"');
    return *this;
  }
  BasicJsonWriter& integer(std::integral auto value) { return number(value); }
  /// As short as it can be read back exactly; null where it is not finite.
  BasicJsonWriter& real(double value) { return std::isfinite(value) ? number(value) : null(); }
  /// Six decimals at most; null where it is not finite.
  BasicJsonWriter& rounded(double value) {
    if (!std::isfinite(value)) return null();
    std::array<char, 400> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                   std::chars_format::fixed, 6)
                         .ptr;
    std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
    while (text.ends_with('0')) text.remove_suffix(1);
    if (text.ends_with('.')) text.remove_suffix(1);
    return raw(text);
  }
  BasicJsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
  BasicJsonWriter& null() { return raw("null"); }
  /// A value that is JSON already.
  BasicJsonWriter& raw(std::string_view value) {
    begin_value();
    out_.append(value);
    return *this;
  }

  /// The value by its type; null for an optional without one.
  template <typename T>
  BasicJsonWriter& value(const T& value) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return text(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      return boolean(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      return real(value);
    } else {
      return integer(value);
    }
  }
  template <typename T>
  BasicJsonWriter& value(const std::optional<T>& found) {
    return found ? value(*found) : null();
  }
  template <typename T>
  BasicJsonWriter& member(std::string_view name, const T& value) {
    return key(name).value(value);
  }
  /// A list of texts.
  BasicJsonWriter& texts(const auto& values) {
    array();
    for (const auto& each : values) text(each);
    return end();
  }

 private:
  struct Level {
    const JsonLayout* layout;
    char close;
    bool any = false;
  };

  [[nodiscard]] const JsonLayout& layout() const {
    return levels_.empty() ? *layout_ : *levels_.back().layout;
  }
  /// Mostly one character.
  void put(std::string_view text) {
    if (text.size() == 1) {
      out_.push_back(text.front());
    } else if (!text.empty()) {
      out_.append(text);
    }
  }
  void line(std::string_view separator, bool indented) {
    put(separator);
    if (!indented) return;
    out_.append(std::string_view(indent_));
    for (std::size_t at = 0; at < depth_; ++at) out_.append(std::string_view("  "));
  }
  void place() {
    if (levels_.empty()) return;
    Level& level = levels_.back();
    line(level.any ? level.layout->next : level.layout->first, level.layout->indented);
    level.any = true;
  }
  void begin_value() {
    if (!keyed_) place();
    keyed_ = false;
  }
  BasicJsonWriter& open(char bracket, char close, const JsonLayout& layout) {
    begin_value();
    out_.push_back(bracket);
    levels_.push_back({&layout, close});
    if (layout.indented) ++depth_;
    return *this;
  }
  template <typename Number>
  BasicJsonWriter& number(Number value) {
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return raw({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }

  Out& out_;
  const JsonLayout* layout_;
  std::string indent_;
  JsonEscapes escapes_;
  std::vector<Level> levels_;
  std::size_t depth_ = 0;  // of levels that are indented
  bool keyed_ = false;     // a key waits for its value
};

using JsonWriter = BasicJsonWriter<std::string>;

}  // namespace fathom

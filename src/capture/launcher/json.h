// Writes JSON, piece by piece.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::capture {

/// A text as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

/// Builds one JSON document. Commas and line breaks come by themselves.
class Json {
 public:
  /// `indented`: a line per member; otherwise all in one line.
  explicit Json(bool indented) : indented_(indented) {}

  Json& object() { return open('{'); }
  Json& array() { return open('['); }
  Json& end();
  Json& key(std::string_view name);
  Json& text(std::string_view value) { return raw(json_string(value)); }
  Json& number(std::int64_t value) { return raw(std::to_string(value)); }
  /// Six decimals at most; not-a-number is null.
  Json& real(double value);
  Json& boolean(bool value) { return raw(value ? "true" : "false"); }
  Json& null() { return raw("null"); }
  Json& texts(const std::vector<std::string>& values);
  /// A value that is JSON already.
  Json& raw(std::string_view value);

  [[nodiscard]] const std::string& str() const { return out_; }

 private:
  Json& open(char bracket);
  void place();
  void line();

  bool indented_;
  std::string out_;
  std::vector<char> open_;  ///< Closing brackets of what is open.
  bool first_ = true;       ///< Nothing stands in the innermost bracket yet.
  bool keyed_ = false;      ///< A key waits for its value.
};

}  // namespace fathom::capture

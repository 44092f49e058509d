// Writes JSON with escapes, commas and indentation.
#include "capture/launcher/json.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace fathom::capture {
namespace {

/// Bytes of the UTF-8 sequence at the start of `text`; 0 where it is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0U) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond the last code point.
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) > 0x9f) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

void append_control(std::string& out, char c) {
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else {
    std::array<char, 8> code{};
    std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
    out += code.data();
  }
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const char c = text.front();
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (length == 1 && static_cast<unsigned char>(c) < 0x20) {
      append_control(out, c);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

void Json::line() {
  if (indented_) out_ += "\n" + std::string(2 * open_.size(), ' ');
}

void Json::place() {
  if (!keyed_ && !open_.empty()) {
    if (!first_) out_ += indented_ ? "," : ", ";
    line();
  }
  keyed_ = false;
  first_ = false;
}

Json& Json::open(char bracket) {
  place();
  out_ += bracket;
  open_.push_back(bracket == '{' ? '}' : ']');
  first_ = true;
  return *this;
}

Json& Json::end() {
  const char bracket = open_.back();
  open_.pop_back();
  if (!first_) line();
  out_ += bracket;
  first_ = false;
  return *this;
}

Json& Json::key(std::string_view name) {
  place();
  out_ += json_string(name) + ": ";
  keyed_ = true;
  return *this;
}

Json& Json::real(double value) {
  if (!std::isfinite(value)) return null();
  std::array<char, 64> digits{};
  std::snprintf(digits.data(), digits.size(), "%.6f", value);
  std::string text = digits.data();
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return raw(text);
}

Json& Json::texts(const std::vector<std::string>& values) {
  array();
  for (const std::string& value : values) text(value);
  return end();
}

Json& Json::raw(std::string_view value) {
  place();
  out_ += value;
  return *this;
}

}  // namespace fathom::capture

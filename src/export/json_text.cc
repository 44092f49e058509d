// Escapes strings of a trace for JSON.
#include "export/json_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom {
namespace {

bool needs_escape(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

bool is_plain(std::string_view text) { return std::ranges::none_of(text, needs_escape); }

void write_escaped(WriteBuffer& out, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '"':
      out.text("\\\"");
      return;
    case '\\':
      out.text("\\\\");
      return;
    case '\n':
      out.text("\\n");
      return;
    case '\t':
      out.text("\\t");
      return;
    case '\r':
      out.text("\\r");
      return;
    default:
      out.text("\\u00");
      out.character(kDigits[static_cast<unsigned char>(c) >> 4U]);
      out.character(kDigits[static_cast<unsigned char>(c) & 15U]);
  }
}

}  // namespace

void JsonText::quoted(std::string_view text) {
  out_.character('"');
  while (!text.empty()) {
    const auto at = std::ranges::find_if(text, needs_escape);
    const auto plain = static_cast<std::size_t>(at - text.begin());
    out_.text(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    write_escaped(out_, text.front());
    text.remove_prefix(1);
  }
  out_.character('"');
}

void JsonText::quoted(StringId id) {
  const std::string_view text = trace_.text(id);
  Plain& plain = plain_[id.row()];
  if (plain == Plain::unknown) plain = is_plain(text) ? Plain::yes : Plain::no;
  if (plain == Plain::no) return quoted(text);
  out_.character('"').text(text).character('"');
}

void JsonText::number_or_quoted(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const bool number = !digits.empty() && digits.size() <= 18 &&
                      (digits.front() != '0' || digits.size() == 1) && text != "-0" &&
                      std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (number) {
    out_.text(text);
  } else {
    quoted(text);
  }
}

void write_real(WriteBuffer& out, double value) {
  // JSON has no other numbers; readers take null as not recorded.
  if (!std::isfinite(value)) {
    out.text("null");
  } else {
    out.number(value);
  }
}

}  // namespace fathom

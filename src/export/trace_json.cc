// Writes names, numbers and times of a trace as JSON.
#include "export/trace_json.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace fathom {
namespace {

bool needs_escape(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

}  // namespace

TraceJson& TraceJson::name(StringId id) {
  const std::string_view value = trace_.text(id);
  Plain& plain = plain_[id.row()];
  if (plain == Plain::unknown)
    plain = std::ranges::none_of(value, needs_escape) ? Plain::yes : Plain::no;
  if (plain == Plain::yes) {
    plain_text(value);
  } else {
    text(value);
  }
  return *this;
}

TraceJson& TraceJson::number_or_text(std::string_view value) {
  const std::string_view digits = value.starts_with('-') ? value.substr(1) : value;
  const bool number = !digits.empty() && digits.size() <= 18 &&
                      (digits.front() != '0' || digits.size() == 1) && value != "-0" &&
                      std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (number) {
    raw(value);
  } else {
    text(value);
  }
  return *this;
}

TraceJson& TraceJson::micro(std::int64_t ns) {
  constexpr std::uint64_t kUnit = 1000;
  const bool negative = ns < 0;
  const auto size = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  std::array<char, 32> digits{};
  digits[0] = '-';
  char* const begin = digits.data() + (negative ? 0 : 1);
  char* end = std::to_chars(digits.data() + 1, digits.data() + digits.size(), size / kUnit).ptr;
  if (const std::uint64_t rest = size % kUnit; rest != 0) {
    *end++ = '.';
    *end++ = static_cast<char>('0' + rest / 100);
    *end++ = static_cast<char>('0' + rest / 10 % 10);
    *end++ = static_cast<char>('0' + rest % 10);
  }
  raw({begin, static_cast<std::size_t>(end - begin)});
  return *this;
}

}  // namespace fathom

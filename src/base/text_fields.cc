// Parses numbers, words and lines off the front of a text.
#include "base/text_fields.h"

#include <algorithm>
#include <charconv>

namespace fathom {
namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

std::optional<std::int64_t> take_integer(std::string_view& text) {
  skip_blanks(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    // Unsigned numbers beyond our range are limits that mean "none", such as of /proc/PID/stat.
    value = INT64_MAX;
  } else if (error != std::errc()) {
    return {};
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view take_word(std::string_view& text) {
  skip_blanks(text);
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  skip_blanks(text);
  return word;
}

std::optional<std::int64_t> whole_integer(std::string_view text) {
  const std::optional<std::int64_t> number = take_integer(text);
  if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) return {};
  return number;
}

std::optional<std::int64_t> keyed_integer(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.starts_with(':')) line.remove_prefix(1);
    if (line.empty() || kBlanks.find(line.front()) == std::string_view::npos) continue;
    return take_integer(line);
  }
  return {};
}

}  // namespace fathom

// Keeps texts in ascending order.
#include "base/distinct_texts.h"

#include <algorithm>

namespace fathom {
namespace {

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Numbers come before all else.
bool is_before(std::string_view one, std::string_view other) {
  const bool number = is_whole_number(one);
  if (number != is_whole_number(other)) return number;
  if (number && one.size() != other.size()) return one.size() < other.size();
  return one < other;
}

}  // namespace

void add_distinct(std::vector<std::string>& texts, std::string_view text) {
  const auto at = std::ranges::lower_bound(texts, text, is_before);
  if (at == texts.end() || *at != text) texts.insert(at, std::string(text));
}

std::string comma_separated(std::span<const std::string> texts) {
  std::string line;
  for (const std::string& text : texts) line.append(line.empty() ? "" : ", ").append(text);
  return line;
}

}  // namespace fathom

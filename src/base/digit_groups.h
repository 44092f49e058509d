// Formats whole numbers with thousands separators.
#pragma once

#include <concepts>
#include <string>

namespace fathom {

/// "12,345,678"; for a count, which is never negative.
template <std::unsigned_integral Integer>
std::string grouped(Integer number) {
  constexpr int kGroup = 3;
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - kGroup; at > 0; at -= kGroup) {
    text.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return text;
}

}  // namespace fathom

// The values that several runs had for one thing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// Puts `text` in its place, unless it is there: ascending, whole numbers by what they count.
void add_distinct(std::vector<std::string>& texts, std::string_view text);
/// "1, 2, 10".
std::string comma_separated(std::span<const std::string> texts);

}  // namespace fathom

// The word closest to a mistyped one.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace fathom {

/// The choice closest to `word` by edit distance, or "" when none is close enough to be what was
/// meant.
std::string_view nearest(std::string_view word, std::span<const std::string_view> choices);
/// The same, with at most `slips` letters wrong, missing, added or swapped.
std::string_view nearest(std::string_view word, std::span<const std::string_view> choices,
                         std::size_t slips);

}  // namespace fathom

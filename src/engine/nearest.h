// The word that was probably meant.
#pragma once

#include <span>
#include <string_view>

namespace fathom {

/// The choice closest to `word` by edit distance, or "" when none is close enough to be a slip of
/// the hand.
std::string_view nearest(std::string_view word, std::span<const std::string_view> choices);

}  // namespace fathom

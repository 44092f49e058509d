// Text as a terminal shows it: how many columns it takes, and what must not reach the terminal raw.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {

/// Columns that UTF-8 text takes on a terminal. Wide (East Asian, emoji) characters count 2,
/// combining ones 0. Bytes that are not UTF-8 count 1 each.
std::size_t display_width(std::string_view text);

/// The text with control characters made visible (␊, ␛, \x85), invalid bytes replaced by U+FFFD,
/// and marks that reorder text left out, so that a name can neither move the cursor nor hide what
/// follows it.
std::string printable(std::string_view text);

/// `text` (printable) in at most `width` columns, shortened in the middle by "…". Width 0 gives "".
std::string shorten_middle(std::string_view text, std::size_t width);
/// Likewise, but cut at its end: "abcde…".
std::string shorten_end(std::string_view text, std::size_t width);

/// Padded with blanks to `width` columns.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

/// Breaks at blanks into lines of at most `width` columns, but no number from its unit; longer
/// words are broken where they must, and those above 1000 columns shortened in the middle.
std::string wrap(std::string_view text, std::size_t width, std::string_view indent);

}  // namespace fathom

// Pieces of HTML.
#pragma once

#include <string>
#include <string_view>

namespace fathom::page {

/// Text for element content and attribute values: &, <, > and quotes escaped, control characters
/// made visible, what is longer than kLongestText shortened in the middle.
std::string escaped(std::string_view text);
/// The same of each line; the lines stay lines.
std::string escaped_lines(std::string_view text);
inline constexpr std::size_t kLongestText = 2000;
/// A number for SVG attributes: two decimals, no exponent.
std::string coordinate(double number);

}  // namespace fathom::page

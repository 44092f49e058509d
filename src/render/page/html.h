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
/// `text` (HTML) as a link to the definition of a term of the glossary.
std::string term_link(std::string_view term, std::string_view text);
/// Where that definition stands: "term-launch-latency".
std::string term_anchor(std::string_view term);
/// A number for SVG attributes: two decimals, no exponent.
std::string coordinate(double number);
/// "<section id=…><h2>title</h2>" … ; `inner` is HTML.
std::string section(std::string_view id, std::string_view title, const std::string& inner);

}  // namespace fathom::page

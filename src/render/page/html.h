// Pieces of HTML.
#pragma once

#include <string>
#include <string_view>

namespace fathom::page {

/// Text for element content and attribute values: &, <, > and quotes escaped, control characters
/// made visible.
std::string escaped(std::string_view text);
/// A number for SVG attributes: two decimals, no exponent.
std::string coordinate(double number);
/// "<section id=…><h2>title</h2>" … ; `inner` is HTML.
std::string section(std::string_view id, std::string_view title, const std::string& inner);

}  // namespace fathom::page

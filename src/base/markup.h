// Text within HTML, SVG and XML.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// For the content of elements and for values of attributes in either quotes: &, <, > and quotes
/// are escaped. Control characters stay as they are; XML cannot hold most of them.
std::string markup_escaped(std::string_view text);

}  // namespace fathom

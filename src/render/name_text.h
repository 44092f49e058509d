// Names of C++ functions in less room.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {

/// `name` (printable) in at most `width` columns. Names of C++ functions lose what says least
/// first: the return type, the argument list, namespaces; whatever is still too wide, and every
/// other text, is shortened in the middle.
std::string shorten_name(std::string_view name, std::size_t width);

}  // namespace fathom

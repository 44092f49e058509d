// Names in less room.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

/// `name` (printable) in at most `width` columns. Names of C++ functions lose what says least
/// first: return type and argument list, namespaces, the last template arguments; other texts, and
/// what is still too wide, are shortened in the middle.
std::string shorten_name(std::string_view name, std::size_t width);

/// All names of a column, each in at most `width` columns. Different names that would look the
/// same show where they differ, if that helps.
void shorten_names(std::vector<std::string>& names, std::size_t width);

}  // namespace fathom

// Lists the names of the files in a folder.
#pragma once

#include <string>
#include <vector>

namespace fathom::cuda {

/// The names in it, in no order; none where it cannot be read. Throws where there is no memory, as
/// std::filesystem does not: its iterator ends the program.
std::vector<std::string> names_in(const std::string& folder);

}  // namespace fathom::cuda

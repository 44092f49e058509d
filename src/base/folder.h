// Lists a directory.
#pragma once

#include <string>
#include <system_error>
#include <vector>

namespace fathom {

/// The names in a directory, without "." and "..", in the system's order; none, with the reason in
/// `error`, where it cannot be read. Without memory it throws std::bad_alloc:
/// std::filesystem::directory_iterator then ends the program, or seems to be at the end.
std::vector<std::string> names_in(const std::string& folder, std::error_code& error);
/// Of one that may not be there.
std::vector<std::string> names_in(const std::string& folder);

}  // namespace fathom

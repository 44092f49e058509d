// The folder for what may be made again: where it is, and that nobody else writes to it.
#pragma once

#include <string>

namespace fathom {

/// $XDG_CACHE_HOME/fathom, else ~/.cache/fathom; empty where the user has no place for such files.
std::string user_cache_folder();

/// True for a directory, not a link to one, that belongs to this user and that only they may write
/// to.
bool is_ours_alone(const std::string& folder);

/// The same, and only they may read it; makes it, with the folders above it, where it is not there.
bool make_private_folder(const std::string& folder);

}  // namespace fathom

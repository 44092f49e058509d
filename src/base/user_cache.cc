// Finds the user's cache by the XDG Base Directory Specification.
#include "base/user_cache.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// No link, of this user, with none of the `forbidden` permissions.
bool is_ours(const std::string& folder, mode_t forbidden) {
  struct stat facts {};
  return lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == geteuid() && (facts.st_mode & forbidden) == 0;
}

}  // namespace

std::string user_cache_folder() {
  const char* const given = std::getenv("XDG_CACHE_HOME");
  if (given != nullptr && *given == '/') return (fs::path(given) / "fathom").string();
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return (fs::path(home) / ".cache" / "fathom").string();
  return "";
}

bool is_ours_alone(const std::string& folder) { return is_ours(folder, S_IWGRP | S_IWOTH); }

bool make_private_folder(const std::string& folder) {
  std::error_code failure;
  fs::create_directories(fs::path(folder).parent_path(), failure);
  mkdir(folder.c_str(), S_IRWXU);
  return is_ours(folder, S_IRWXG | S_IRWXO);
}

}  // namespace fathom

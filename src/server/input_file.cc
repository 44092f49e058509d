// Asks the file system who a file is.
#include "server/input_file.h"

#include <sys/stat.h>

namespace fathom::server {

FileIdentity FileIdentity::of(const std::string& path) {
  struct stat found {};
  if (path == "-" || stat(path.c_str(), &found) != 0) return {};
  return {.device = found.st_dev,
          .inode = found.st_ino,
          .size = found.st_size,
          .modified_ns = found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec};
}

}  // namespace fathom::server

// readdir(), with a folder that is closed whatever happens.
#include "capture/cuda/folder.h"

#include <cerrno>
#include <memory>
#include <new>
#include <string_view>

#include <dirent.h>

namespace fathom::cuda {

std::vector<std::string> names_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  if (open == nullptr && errno == ENOMEM) throw std::bad_alloc();
  std::vector<std::string> names;
  while (const dirent* const entry = open == nullptr ? nullptr : readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

}  // namespace fathom::cuda

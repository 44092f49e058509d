// Lists a directory by opendir(3).
#include "base/folder.h"

#include <cerrno>
#include <memory>
#include <string_view>

#include <dirent.h>

#include "base/out_of_memory.h"

namespace fathom {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

}  // namespace

std::vector<std::string> names_in(const std::string& folder, std::error_code& error) {
  error.clear();
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> open(opendir(folder.c_str()));
  errno = open == nullptr ? errno : 0;
  while (const dirent* const entry = open == nullptr ? nullptr : readdir(open.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno == ENOMEM) throw OutOfMemory(0);
  error.assign(errno, std::generic_category());
  return names;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::error_code ignored;
  return names_in(folder, ignored);
}

}  // namespace fathom

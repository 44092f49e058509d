// Reads without moving on, so that whoever takes a file finds it at its begin.
#include "base/held_files.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): there is one limit
constinit std::atomic<std::size_t> held_by_all{0};

/// A quarter of the files that may be open: who reads needs some, too.
std::size_t room_of_process() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur / 4, 1U << 20U));
}

Descriptor open_to_read(const std::string& path) {
  int number = -1;
  do {
    number = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (number < 0 && errno == EINTR);
  return Descriptor(number);
}

std::vector<std::byte> first_bytes(int file, std::size_t most) {
  std::vector<std::byte> bytes(most);
  std::size_t filled = 0;
  while (filled < most) {
    const ssize_t got =
        pread(file, bytes.data() + filled, most - filled, static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

/// Does the path name the open file, and no other that has taken its place?
bool is_still(int file, const std::string& path) {
  struct stat held = {};
  struct stat named = {};
  return fstat(file, &held) == 0 && stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace

HeldFiles::~HeldFiles() { held_by_all -= files_.size(); }

void HeldFiles::hold(const std::string& path, Descriptor file) {
  const std::lock_guard lock(mutex_);
  if (const auto before = files_.find(path); before != files_.end()) {
    before->second = std::move(file);
    return;
  }
  if (files_.size() >= most_) return;
  if (++held_by_all <= room_of_process()) {
    files_.emplace(path, std::move(file));
  } else {
    --held_by_all;
  }
}

std::vector<std::byte> HeldFiles::head(const std::string& path, std::size_t most) {
  {
    const std::lock_guard lock(mutex_);
    const auto held = files_.find(path);
    if (held != files_.end() && is_still(held->second.get(), path))
      return first_bytes(held->second.get(), most);
  }
  Descriptor file = open_to_read(path);
  if (!file) return {};
  std::vector<std::byte> bytes = first_bytes(file.get(), most);
  struct stat status = {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return bytes;
  hold(path, std::move(file));
  return bytes;
}

Descriptor HeldFiles::take(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return {};
  Descriptor file = std::move(found->second);
  files_.erase(found);
  --held_by_all;
  if (!is_still(file.get(), path)) file.reset();
  return file;
}

}  // namespace fathom

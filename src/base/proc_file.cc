// Reads small files of /proc and /sys.
#include "base/proc_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace fathom {
namespace {

constexpr std::size_t kFirstRead = std::size_t{4} << 10;

int open_for_reading(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg)
}

/// Reads from the start until the end or the limit; bytes read, or -1.
std::ptrdiff_t read_all(int fd, std::string& buffer, std::size_t limit) {
  if (buffer.size() < kFirstRead) buffer.resize(kFirstRead);
  std::size_t size = 0;
  while (size < limit) {
    if (size == buffer.size()) buffer.resize(std::min(limit, 2 * size));
    const std::ptrdiff_t got =
        ::pread(fd, buffer.data() + size, buffer.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    size += static_cast<std::size_t>(got);
    // /proc hands out what fits, so a short read is the end: no second call to find that out.
    if (got == 0 || size < buffer.size()) break;
  }
  return static_cast<std::ptrdiff_t>(size);
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::size_t limit) {
  const RereadFile file(path);
  if (!file.is_open()) return {};
  std::string text;
  const std::string_view read = file.read(text);
  if (read.empty()) return {};
  text.resize(std::min(read.size(), limit));
  return text;
}

std::string why_unreadable(const std::string& path) {
  const int fd = open_for_reading(path);
  if (fd < 0) return path + ": " + std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
  std::string buffer;
  const std::ptrdiff_t size = read_all(fd, buffer, kFirstRead);
  const int error = errno;
  ::close(fd);
  if (size < 0) return path + ": " + std::strerror(error);  // NOLINT(concurrency-mt-unsafe)
  return {};
}

RereadFile::RereadFile(const std::string& path) : fd_(open_for_reading(path)) {}

RereadFile::~RereadFile() {
  if (fd_ >= 0) ::close(fd_);
}

RereadFile::RereadFile(RereadFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

RereadFile& RereadFile::operator=(RereadFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

std::string_view RereadFile::read(std::string& buffer) const {
  constexpr std::size_t kLimit = std::size_t{1} << 20;
  if (fd_ < 0) return {};
  const std::ptrdiff_t size = read_all(fd_, buffer, kLimit);
  return size <= 0 ? std::string_view()
                   : std::string_view(buffer.data(), static_cast<std::size_t>(size));
}

}  // namespace fathom

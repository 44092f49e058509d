// Writes blocks to a file, completely or not at all.
#include "wire/file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/whole_io.h"

namespace fathom::wire {
namespace {

/// Whether a file of so many bytes would be larger than the system lets this process write. It
/// would end the process, which is not ours alone.
bool is_beyond_limit(std::uint64_t size) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  return size > limit.rlim_cur;
}

}  // namespace

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(std::exchange(other.size_, 0)) {}

File& File::operator=(File&& other) noexcept {
  if (this == &other) return *this;
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

File File::make(const char* path) noexcept {
  File file;
  do {
    file.descriptor_ = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  } while (file.descriptor_ < 0 && errno == EINTR);
  return file;
}

Result<File> File::create(const std::string& path) {
  File file = make(path.c_str());
  if (!file.is_open())
    return Error{ErrorCode::io, path + ": cannot be written: " + std::strerror(errno)};
  return file;
}

bool File::append(std::string_view bytes) noexcept {
  if (descriptor_ < 0) return false;
  if (is_beyond_limit(size_ + bytes.size())) {
    errno = EFBIG;
    return false;
  }
  const std::size_t done = write_all(descriptor_, bytes);
  // Half a block would cost the reader a search, no more, if it cannot be taken back.
  const bool whole = done == bytes.size();
  const int reason = errno;
  const bool taken_back =
      !whole && (done == 0 || ::ftruncate(descriptor_, static_cast<off_t>(size_)) == 0);
  errno = reason;
  if (!taken_back) size_ += done;
  return whole;
}

bool File::close() noexcept {
  if (descriptor_ < 0) return true;
  const int result = ::close(std::exchange(descriptor_, -1));
  return result == 0 || errno == EINTR;
}

}  // namespace fathom::wire

// Reads what the system's scheduler knows of a thread.
#include "capture/inside/thread_time.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include "wire/writer.h"

namespace fathom::inside {

void ThreadTime::begin() noexcept {
  if (tid_ != 0) return;
  tid_ = gettid();
  read(tid_, base_);
  latest_ = base_;
}

void ThreadTime::look() noexcept {
  if (base_.now != 0) read(tid_, latest_);
}

bool ThreadTime::read(pid_t tid, Reading& reading) noexcept {
  constexpr int kDecimal = 10;
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/schedstat", static_cast<int>(tid));
  const int error = errno;  // the program's
  std::array<char, 96> text{};
  ssize_t size = -1;
  if (const int file = open(path.data(), O_RDONLY | O_CLOEXEC); file >= 0) {
    size = ::read(file, text.data(), text.size() - 1);
    close(file);
  }
  errno = error;
  if (size <= 0) return false;
  char* end = nullptr;
  const std::int64_t cpu = std::strtoll(text.data(), &end, kDecimal);
  if (end == text.data() || *end != ' ') return false;
  reading = {wire::monotonic_ns(), cpu, std::strtoll(end, nullptr, kDecimal)};
  return true;
}

}  // namespace fathom::inside

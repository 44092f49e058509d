// Reads and writes all that is asked for: after an interruption, or where a call takes a part, the
// rest.
#pragma once

#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <unistd.h>

namespace fathom {

/// Bytes written: fewer than `bytes` has only where the system refuses the rest (errno).
[[nodiscard]] inline std::size_t write_all(int descriptor, std::string_view bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;  // not of a file
    if (written <= 0) break;
    done += static_cast<std::size_t>(written);
  }
  return done;
}

/// Bytes read, fewer than `to` has room for only at the end. None where the system refuses (errno).
[[nodiscard]] inline std::optional<std::size_t> read_all(int descriptor,
                                                         std::span<char> to) noexcept {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t got = ::read(descriptor, to.data() + done, to.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace fathom

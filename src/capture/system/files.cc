// Reads, writes and renames small files.
#include "capture/system/files.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "base/whole_io.h"

namespace fathom::capture {
namespace {

Error failed(const std::string& path) {
  const std::string limit = errno == EFBIG ? " (the limit of file sizes, ulimit -f)" : "";
  return {ErrorCode::io, path + ": " + std::strerror(errno) + limit};
}

}  // namespace

std::optional<std::string> read_small(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer{};
  bool good = true;
  while (text.size() < kMost) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    good = got >= 0;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  if (!good && text.empty()) return std::nullopt;
  return text;
}

std::string read_line(const std::string& path) {
  return std::string(trimmed(read_small(path).value_or("")));
}

Result<void> replace_file(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  const int descriptor = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return failed(fresh);
  const bool written = write_all(descriptor, text) == text.size();
  const int reason = errno;
  const bool closed = ::close(descriptor) == 0;
  if (!written) errno = reason;
  if (!written || !closed) {
    Error error = failed(fresh);
    ::unlink(fresh.c_str());
    return error;
  }
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return failed(path);
  return {};
}

std::string field_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(key)) {
      const std::string_view rest = trimmed(line.substr(key.size()));
      if (rest.starts_with(':')) return std::string(trimmed(rest.substr(1)));
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t from = text.find_first_not_of(kBlank);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlank) - from + 1);
}

}  // namespace fathom::capture

// Reads /proc/PID/maps.
#include "sample/mappings.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

#include "base/text_fields.h"

namespace fathom::sample {
namespace {

/// Some 500,000 mappings: more than the kernel allows without being told to.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

bool take_hex(std::string_view& text, std::uint64_t& value, char end) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const auto length = static_cast<std::size_t>(parsed.ptr - text.data());
  if (parsed.ec != std::errc() || length >= text.size() || text[length] != end) return false;
  text.remove_prefix(length + 1);
  return true;
}

/// "7f0000000000-7f0000001000 r-xp 00000000 08:01 1234    /usr/lib/x.so"
std::optional<Mapping> parse_line(std::string_view line) {
  Mapping mapping;
  if (!take_hex(line, mapping.begin, '-') || !take_hex(line, mapping.end, ' ')) return {};
  if (line.size() < 5 || mapping.end <= mapping.begin) return {};
  mapping.readable = line[0] == 'r';
  mapping.writable = line[1] == 'w';
  mapping.executable = line[2] == 'x';
  line.remove_prefix(5);
  if (!take_hex(line, mapping.offset, ' ')) return {};
  for (int field = 0; field < 2; ++field) {
    // The device, then the inode, in decimal.
    if (field == 1) std::from_chars(line.data(), line.data() + line.size(), mapping.inode);
    const std::size_t blank = line.find(' ');
    line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.path = line;
  return mapping;
}

}  // namespace

std::vector<Mapping> parse_mappings(std::string_view text) {
  std::vector<Mapping> mappings;
  while (!text.empty()) {
    if (std::optional<Mapping> mapping = parse_line(take_line(text)))
      mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

std::optional<std::vector<Mapping>> read_mappings(pid_t pid, int& error) {
  const std::string path = "/proc/" + std::to_string(pid) + "/maps";
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  error = errno;
  if (fd < 0) return std::nullopt;
  // The kernel hands it out a page at a time, each ending with a line: only an empty read is the
  // end.
  std::string text;
  ssize_t got = 1;
  while (got > 0 && text.size() < kMostBytes) {
    const std::size_t size = text.size();
    text.resize(size + (std::size_t{64} << 10));
    got = ::read(fd, text.data() + size, text.size() - size);
    error = got < 0 ? errno : 0;
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  ::close(fd);
  if (got < 0) return std::nullopt;
  return parse_mappings(text);
}

}  // namespace fathom::sample

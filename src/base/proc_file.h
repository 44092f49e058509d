// Reading the small files of /proc and /sys: whole, again and again, without keeping what was read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {

/// Where the kernel's files are; tests put a folder with samples in their place.
struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

/// The whole file, at most `limit` bytes. Unset: it cannot be read.
std::optional<std::string> read_file(const std::string& path, std::size_t limit = 1 << 20);

/// Why a file cannot be read, for the user: "no such file", "not permitted"; "" when it can.
std::string why_unreadable(const std::string& path);

/// A file that is read many times: opened once. Not copyable; not for several threads at once.
class RereadFile {
 public:
  RereadFile() = default;
  explicit RereadFile(const std::string& path);
  ~RereadFile();
  RereadFile(RereadFile&& other) noexcept;
  RereadFile& operator=(RereadFile&& other) noexcept;
  RereadFile(const RereadFile&) = delete;
  RereadFile& operator=(const RereadFile&) = delete;

  /// What it says now; valid until the next call of anybody with this buffer. Empty: it cannot be
  /// read, for example because the process is gone.
  std::string_view read(std::string& buffer) const;
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace fathom

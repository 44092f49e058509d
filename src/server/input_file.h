// FileIdentity: is a file still the one that was read?
#pragma once

#include <cstdint>
#include <string>

namespace fathom::server {

struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = -1;
  std::int64_t modified_ns = 0;

  /// Of the file there; unknown for standard input and where there is none.
  static FileIdentity of(const std::string& path);
  [[nodiscard]] bool known() const { return size >= 0; }
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

}  // namespace fathom::server

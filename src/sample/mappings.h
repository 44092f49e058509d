// What is mapped into a process: /proc/PID/maps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "sample/memory.h"

namespace fathom::sample {

struct Mapping {
  Address begin = 0;
  Address end = 0;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  std::uint64_t offset = 0;  ///< Into the file.
  std::uint64_t inode = 0;   ///< Of the file; 0: none.
  std::string path;          ///< As the kernel names it; empty for anonymous memory.
  bool operator==(const Mapping&) const = default;
};

/// Lines that are none of this form are left out.
std::vector<Mapping> parse_mappings(std::string_view text);
/// Nothing where it may not be read; `error` is then its errno.
std::optional<std::vector<Mapping>> read_mappings(pid_t pid, int& error);

}  // namespace fathom::sample

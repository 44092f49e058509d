// Asks the file system how much is free, and the process how much of it may be one file.
#include "capture/system/disk.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <sys/resource.h>
#include <sys/statvfs.h>

namespace fathom::capture {

bool is_disk_full(const std::string& folder) {
  struct statvfs facts {};
  if (statvfs(folder.c_str(), &facts) != 0 || facts.f_blocks == 0) return false;
  // A block of a capture file has up to 64 KiB.
  constexpr unsigned long kNeeded = 64UL << 10;
  return facts.f_bavail * facts.f_frsize < kNeeded;
}

std::optional<std::uint64_t> reached_file_limit(const std::string& folder) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  // Writers keep so much free for how a program ended, of a small limit half.
  constexpr std::uint64_t kReserve = std::uint64_t{128} << 10;
  const std::uint64_t most = limit.rlim_cur;
  const std::uint64_t near = most - std::min(most / 5 * 3, kReserve);
  std::error_code failure;
  for (std::filesystem::directory_iterator files(folder, failure), end; !failure && files != end;
       files.increment(failure)) {
    std::error_code ignored;
    const std::uintmax_t size = files->file_size(ignored);
    if (!ignored && size >= near) return most;
  }
  return std::nullopt;
}

std::string file_limit_text(std::uint64_t bytes) {
  return std::to_string(bytes) + " bytes (ulimit -f " + std::to_string(bytes / 1024) + ")";
}

}  // namespace fathom::capture

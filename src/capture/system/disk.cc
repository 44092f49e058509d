// Asks the file system for the room that is left.
#include "capture/system/disk.h"

#include <sys/statvfs.h>

namespace fathom::capture {

bool is_disk_full(const std::string& folder) {
  struct statvfs facts {};
  if (statvfs(folder.c_str(), &facts) != 0 || facts.f_blocks == 0) return false;
  // A block of a capture file has up to 64 KiB.
  constexpr unsigned long kNeeded = 64UL << 10;
  return facts.f_bavail * facts.f_frsize < kNeeded;
}

}  // namespace fathom::capture

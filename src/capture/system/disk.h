// Room for a recording: on its disk, and by the limit of file sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fathom::capture {

/// Whether so little is left on the disk of this folder that a file cannot grow there. False where
/// it is not known.
bool is_disk_full(const std::string& folder);

/// How large a file may become that this process and its children write (ulimit -f), in bytes,
/// where a file of this folder has come near to that: what would have made it larger is lost.
std::optional<std::uint64_t> reached_file_limit(const std::string& folder);

/// "102400 bytes (ulimit -f 100)".
std::string file_limit_text(std::uint64_t bytes);

}  // namespace fathom::capture

// Room on the disk that a recording is written to.
#pragma once

#include <string>

namespace fathom::capture {

/// Whether so little is left on the disk of this folder that a file cannot grow there. False where
/// it is not known.
bool is_disk_full(const std::string& folder);

}  // namespace fathom::capture

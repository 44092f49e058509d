// The capture file of this process.
#pragma once

#include <memory>
#include <string>

#include "capture/inside/settings.h"
#include "wire/writer.h"

namespace fathom::inside {

/// Makes `<folder>/<stem>-<pid>.fathom`, and the folder where it is missing. Where a file of that
/// name is there, of another part of this process or of what ran in it before exec(),
/// `<stem>-<pid>-2.fathom` and so on. The first records say which process it is. Null where it
/// cannot be written; then no empty file is left. Throws where there is no memory.
std::unique_ptr<wire::Writer> open_capture_file(const std::string& folder, const std::string& stem,
                                                const Settings& settings, bool forked);

}  // namespace fathom::inside

// What a run did not record, and what would have allowed it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/doctor/checks.h"
#include "capture/launcher/manifest.h"

namespace fathom::capture {

/// True for an interpreter of Python: "python3.11", "/usr/bin/python", "pypy3".
bool is_python(const std::string& program);

/// The switch of Python on this command line that keeps the hook out (-I, -E, -S), or "".
std::string switch_against_hook(const std::vector<std::string>& command);

/// Judges by the command, the options, the processes that there were, the files in the folder, and
/// what a user may record of GPUs in `around`.
std::vector<NotRecorded> limits_of(const Manifest& manifest, const std::string& folder,
                                   const Surroundings& around = {});

}  // namespace fathom::capture

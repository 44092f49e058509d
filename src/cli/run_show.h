// What a run prints when it has ended.
#pragma once

#include <string>

#include "cli/run_capture.h"

namespace fathom::cli {

/// As `fathom diagnose FOLDER` does, with its exit code.
int diagnose_folder(const std::string& folder, bool quiet);

/// The diagnosis: of a program inside which nothing was recorded, its processes and resources. To
/// standard output when that is a terminal, else to standard error: what the program wrote to a
/// pipe or a file is for somebody else.
void show_run(const Captured& captured, bool quiet);

}  // namespace fathom::cli

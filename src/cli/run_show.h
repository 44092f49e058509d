// What is printed of a recording: its messages, and when it has ended the diagnosis.
#pragma once

#include <string>

#include "record/messages.h"

namespace fathom::cli {

/// As `fathom diagnose FOLDER` does, with its exit code.
int diagnose_folder(const std::string& folder, bool quiet);

/// The diagnosis: of a program inside which nothing was recorded, its processes and resources. To
/// standard output when that is a terminal, else to standard error: what the program wrote to a
/// pipe or a file is for somebody else.
void show_recording(const std::string& folder, bool quiet);

/// Prints what a recording reports; when quiet, only errors.
record::Messages recording_messages(bool quiet);

}  // namespace fathom::cli

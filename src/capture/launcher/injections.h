// Libraries that programs load by themselves where an environment variable names them: carried
// inside the binary, unpacked into the session folder.
#pragma once

#include <string>
#include <vector>

#include "capture/doctor/checks.h"
#include "capture/launcher/manifest.h"

namespace fathom::capture {

struct Injections {
  std::vector<std::string> variables;     ///< NAME=VALUE for the program.
  std::vector<NotRecorded> not_recorded;  ///< What cannot be injected, and why.
};

/// Unpacks the libraries into `session`/lib, which only this user may read and write. A variable
/// that names another tool's library is left alone. `extras` are those of the recording: what only
/// one of them needs is left out without it. Without a driver in `around` nothing of a GPU's is
/// missed.
Injections prepare_injections(const std::string& session, const std::vector<std::string>& extras,
                              const Surroundings& around = {});

}  // namespace fathom::capture

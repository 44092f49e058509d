// Runs a helper program (git, python) for a moment, and never for long.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fathom::capture {

struct Briefly {
  int code = 0;        ///< Exit code; 128 + signal.
  std::string output;  ///< Its standard output, at most 256 KiB.
};

/// Runs the command with nothing on standard input and its errors thrown away. `environment` is
/// NAME=VALUE, put on top of ours. Errors: not_found where it cannot be started, io where it ran
/// longer than `limit` and was killed.
Result<Briefly> run_briefly(const std::vector<std::string>& command, Duration limit,
                            const std::vector<std::string>& environment = {});

}  // namespace fathom::capture

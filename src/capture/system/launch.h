// Starts the program under capture.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"

namespace fathom::capture {

struct Launched {
  pid_t pid = 0;
  std::int64_t started = 0;      ///< CLOCK_MONOTONIC, ns.
  std::int64_t fork_memory = 0;  ///< Resident bytes that it was forked with: no peak of its own.
};

/// Runs the command as a shell would, in our process group, with our standard input, output and
/// error. `environment` is NAME=VALUE, on top of ours; `mask` is the signal mask that it gets.
/// Errors: not_found for a command that there is not, unsupported for one that cannot be executed,
/// io for a machine without room for one more process.
Result<Launched> launch(const std::vector<std::string>& command,
                        const std::vector<std::string>& environment, const sigset_t& mask);

/// The file that a command names, by PATH; "" where there is none.
std::string find_program(const std::string& name);

/// What a shell returns for a command that could not be started.
int exit_code_of_failure(const Error& error);

}  // namespace fathom::capture

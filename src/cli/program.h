// The program: finds the subcommand and runs it.
#pragma once

#include <string>
#include <vector>

namespace fathom::cli {

/// Runs `fathom <arguments>` and returns its exit code.
int run_program(const std::vector<std::string>& arguments);

}  // namespace fathom::cli

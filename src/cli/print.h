// Prints a finished text.
#pragma once

#include <string_view>

namespace fathom::cli {

/// Writes to standard output; returns the exit code.
int print(std::string_view text);

}  // namespace fathom::cli

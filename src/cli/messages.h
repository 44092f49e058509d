// What goes to stderr: errors, warnings, progress.
#pragma once

#include <string_view>

#include "base/result.h"

namespace fathom::cli {

/// "fathom: message". Control characters are made visible.
void say_error(std::string_view message);
/// "fathom: warning: message", unless silenced.
void say_warning(std::string_view message, bool quiet);

/// The exit code that an error stands for.
int exit_code(const Error& error);
/// Says the error; returns its exit code.
int fail(const Error& error);

}  // namespace fathom::cli

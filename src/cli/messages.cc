// Prints errors, warnings and progress to stderr, one line each.
#include "cli/messages.h"

#include <cstdio>
#include <string>

#include "cli/command.h"
#include "render/text_width.h"

namespace fathom::cli {

void say_error(std::string_view message) {
  const std::string line = "fathom: " + printable(message) + "\n";
  std::fputs(line.c_str(), stderr);
}

void say_warning(std::string_view message, bool quiet) {
  if (!quiet) say_error("warning: " + std::string(message));
}

int exit_code(const Error& error) {
  return error.code == ErrorCode::invalid_argument ? kUsage : kUnreadable;
}

int fail(const Error& error) {
  say_error(error.message);
  return exit_code(error);
}

}  // namespace fathom::cli

// Entry of the program.
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/program.h"

int main(int count, char** values) {
  // A reader that goes away shows as EPIPE, which Output ends quietly on.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return fathom::cli::run_program(std::vector<std::string>(values + 1, values + count));
  } catch (const std::bad_alloc&) {
    fathom::cli::say_error(
        "out of memory; a smaller part of the input, or a machine with more, may help");
  } catch (const std::exception& error) {
    fathom::cli::say_error(std::string("internal error: ") + error.what());
  }
  return fathom::cli::kUnreadable;
}

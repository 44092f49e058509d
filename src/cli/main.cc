// The program's main function.
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "base/out_of_memory.h"
#include "cli/command.h"
#include "cli/memory.h"
#include "cli/messages.h"
#include "cli/program.h"

namespace {

using fathom::cli::say_error;

/// What nobody closer to it could put into words.
void explain(const std::exception& error) {
  const auto* const memory = dynamic_cast<const std::bad_alloc*>(&error);
  const auto* const system = dynamic_cast<const std::system_error*>(&error);
  if (memory != nullptr) {
    say_error(fathom::out_of_memory_text(*memory, ""));
  } else if (system != nullptr && system->code() == std::errc::not_enough_memory) {
    say_error(fathom::out_of_memory_text(fathom::OutOfMemory(0), ""));
  } else {
    say_error(std::string("internal error: ") + error.what());
  }
}

}  // namespace

int main(int count, char** values) {
  // A reader that goes away shows as EPIPE, which Output ends quietly on.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    fathom::cli::set_up_memory();
    return fathom::cli::run_program(std::vector<std::string>(values + 1, values + count));
  } catch (const std::exception& error) {
    try {
      explain(error);
    } catch (const std::exception&) {
      std::fputs("fathom: out of memory, for an explanation, too; raise ulimit -v\n", stderr);
    }
  }
  return fathom::cli::kUnreadable;
}

// Entry of the program.
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include <malloc.h>

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/program.h"

namespace {

/// Blocks of this size go back to the system when they are freed. Left to itself, glibc raises the
/// limit to 32 MiB as it goes, and the working arrays of one analysis stay beside those of the
/// next.
constexpr int kMappedBytes = 1 << 20;

}  // namespace

int main(int count, char** values) {
  mallopt(M_MMAP_THRESHOLD, kMappedBytes);
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

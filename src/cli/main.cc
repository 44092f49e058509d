// The program's main function.
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <sys/resource.h>

#include "base/out_of_memory.h"
#include "base/process_limit.h"
#include "cli/command.h"
#include "cli/memory.h"
#include "cli/messages.h"
#include "cli/program.h"

namespace {

using fathom::cli::say_error;

/// The system says the same of a stack that found no room and of one process too many.
bool memory_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// What a thread needs of address space, as glibc chooses it.
std::size_t thread_stack_bytes() {
  constexpr std::size_t kWithoutLimit = std::size_t{2} << 20;
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? limit.rlim_cur : kWithoutLimit;
}

void explain_memory(const std::bad_alloc& error) {
  if (fathom::cli::say_out_of_memory(error)) return;
  say_error(fathom::out_of_memory_text(error, ""));
}

/// What nobody closer to it could put into words.
void explain(const std::exception& error) {
  const auto* const memory = dynamic_cast<const std::bad_alloc*>(&error);
  const auto* const system = dynamic_cast<const std::system_error*>(&error);
  const bool no_thread =
      system != nullptr && system->code() == std::errc::resource_unavailable_try_again;
  if (memory != nullptr) {
    explain_memory(*memory);
  } else if (system != nullptr && (system->code() == std::errc::not_enough_memory ||
                                   (no_thread && memory_is_limited()))) {
    explain_memory(fathom::OutOfMemory(no_thread ? thread_stack_bytes() : 0));
  } else if (no_thread) {
    say_error("no thread can be started: " + std::string(fathom::kProcessLimit));
  } else {
    say_error(std::string("internal error: ") + error.what());
  }
}

}  // namespace

extern "C" {
static void go_on(int /*signal*/) {}
}

int main(int count, char** values) {
  fathom::cli::set_up_memory();
  // A reader that goes away shows as EPIPE, which Output ends quietly on.
  std::signal(SIGPIPE, SIG_IGN);
  // A write beyond the limit of file sizes fails, and we report it. A handler, unlike SIG_IGN, is
  // not passed on to the programs that we start: they end by it as they would without us.
  if (std::signal(SIGXFSZ, go_on) == SIG_IGN) std::signal(SIGXFSZ, SIG_IGN);
  try {
    return fathom::cli::run_program(std::vector<std::string>(values + 1, values + count));
  } catch (const std::exception& error) {
    try {
      explain(error);
    } catch (const std::exception&) {
      std::fputs("fathom: out of memory, for an explanation, too\n", stderr);
    }
  }
  return fathom::cli::kUnreadable;
}

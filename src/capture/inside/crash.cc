// Writes what was recorded before a signal ends the program.
// The handler itself only waits: our own thread writes, so that it does not matter what the program
// held.
#include "capture/inside/crash.h"

#include <array>
#include <cerrno>

#include <signal.h>

#include "capture/inside/recorder.h"

namespace fathom::inside {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT,
                                 SIGTERM, SIGINT, SIGHUP, SIGQUIT};

/// SA_RESETHAND has put the default back: what faulted faults again, what was sent is sent again.
void on_signal(int number, siginfo_t* info, void* /*context*/) {
  const int saved = errno;
  Recorder::get().write_all();
  const bool sent = info == nullptr || info->si_code <= 0 || number == SIGABRT;
  const bool by_terminal = number == SIGINT || number == SIGHUP || number == SIGQUIT;
  if (sent || by_terminal || number == SIGTERM) raise(number);
  errno = saved;
}

}  // namespace

void catch_crashes() {
  for (const int number : kSignals) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0) continue;
    const bool free = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
    if (!free) continue;
    struct sigaction ours {};
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    sigemptyset(&ours.sa_mask);
    sigaction(number, &ours, nullptr);
  }
}

void let_crashes_be() {
  for (const int number : kSignals) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0) continue;
    if ((now.sa_flags & SA_SIGINFO) == 0 || now.sa_sigaction != on_signal) continue;
    struct sigaction none {};
    none.sa_handler = SIG_DFL;
    sigaction(number, &none, nullptr);
  }
}

}  // namespace fathom::inside

// Records when the signal that begins and ends recording arrives.
#include "capture/cuda/arrivals.h"

#include <cerrno>

#include <signal.h>

#include "capture/inside/recorder.h"
#include "wire/writer.h"

namespace fathom::cuda {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): for a signal handler
constinit inside::SharedPage* arrivals = nullptr;
constinit struct sigaction before {};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void on_signal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  arrivals->turn(wire::monotonic_ns());
  inside::Recorder::get().tick_soon();
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
  errno = saved;
}

}  // namespace

const inside::SharedPage* listen_to(int signal) {
  if (arrivals == nullptr) arrivals = inside::make_shared_page(false);
  if (arrivals == nullptr) return nullptr;
  struct sigaction ours {};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  const bool listens =
      sigaction(signal, nullptr, &before) == 0 && sigaction(signal, &ours, nullptr) == 0;
  return listens ? arrivals : nullptr;
}

}  // namespace fathom::cuda

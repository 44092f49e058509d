// Waits for the program: signals by signalfd, exits by pidfd, /proc by timer.
#include "capture/launcher/supervise.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/writer.h"

namespace fathom::capture {
namespace {

constexpr std::array kHeld = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kScanEvery = 20 * kMs;
/// A look costs at most about this part of one core.
constexpr std::int64_t kScanShare = 40;
constexpr std::int64_t kSlowestScan = 1000 * kMs;
constexpr std::int64_t kBackground = 1000 * kMs;
constexpr std::int64_t kTwice = 3000 * kMs;
constexpr std::int64_t kGrace = 2000 * kMs;

/// CPU time of this thread: what a look costs, however busy the machine is.
std::int64_t cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000 * kMs + time.tv_nsec;
}

class Loop {
 public:
  Loop(const SignalGate& gate, ProcessTree& tree, const Say& say)
      : gate_(gate), tree_(tree), say_(say) {}

  Ending run() {
    scan();
    while (!finished()) {
      wait();
      take_signals();
      tree_.reap();
      if (wire::monotonic_ns() >= next_scan_) scan();
    }
    ending_.left = tree_.running();
    if (!tree_.main().running()) ending_.status = tree_.main().status;
    return ending_;
  }

 private:
  void scan() {
    const std::int64_t before = cpu_ns();
    tree_.scan();
    const std::int64_t cost = cpu_ns() - before;
    next_scan_ = wire::monotonic_ns() + std::clamp(kScanShare * cost, kScanEvery, kSlowestScan);
  }

  bool finished() {
    const std::int64_t now = wire::monotonic_ns();
    if (tree_.main().running()) return give_up_at_ != 0 && now >= give_up_at_;
    if (background_until_ == 0) {
      // Orphans have become our children by now.
      background_until_ = now + kBackground;
      scan();
    }
    return tree_.running().empty() || now >= background_until_;
  }

  void wait() {
    std::int64_t until = next_scan_;
    if (give_up_at_ != 0) until = std::min(until, give_up_at_);
    if (background_until_ != 0) until = std::min(until, background_until_);
    const std::int64_t left = std::max<std::int64_t>(0, until - wire::monotonic_ns());
    std::vector<pollfd> waited = tree_.descriptors();
    waited.push_back({.fd = gate_.descriptor(), .events = POLLIN, .revents = 0});
    const int ready = poll(waited.data(), waited.size(), static_cast<int>((left + kMs - 1) / kMs));
    waited.pop_back();
    if (ready > 0) tree_.look_at_ended(waited);
  }

  void take_signals() {
    signalfd_siginfo signal{};
    while (::read(gate_.descriptor(), &signal, sizeof signal) == sizeof signal) {
      const int number = static_cast<int>(signal.ssi_signo);
      if (number != SIGCHLD) pass(number, signal);
    }
  }

  void pass(int number, const signalfd_siginfo& signal) {
    // A terminal has signalled the whole group already; so has a program that signals its own
    // group.
    const bool reached =
        signal.ssi_code == SI_KERNEL || tree_.holds(static_cast<pid_t>(signal.ssi_pid));
    if (!reached && tree_.main().running()) kill(tree_.main().pid, number);
    if (number == SIGINT) interrupted();
  }

  void interrupted() {
    const std::int64_t now = wire::monotonic_ns();
    ++ending_.interrupts;
    if (!tree_.main().running()) {
      background_until_ = now;
    } else if (give_up_at_ != 0) {
      give_up_at_ = now;
    } else if (last_interrupt_ != 0 && now - last_interrupt_ < kTwice) {
      give_up_at_ = now + kGrace;
    } else {
      say_("interrupted: waiting for the program to end; Ctrl-C again gives up on it");
    }
    last_interrupt_ = now;
  }

  const SignalGate& gate_;
  ProcessTree& tree_;
  const Say& say_;
  Ending ending_;
  std::int64_t next_scan_ = 0;
  std::int64_t last_interrupt_ = 0;
  std::int64_t give_up_at_ = 0;
  std::int64_t background_until_ = 0;
};

}  // namespace

SignalGate::SignalGate() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : kHeld) sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
  descriptor_ = signalfd(-1, &held, SFD_NONBLOCK | SFD_CLOEXEC);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

SignalGate::~SignalGate() {
  if (descriptor_ >= 0) ::close(descriptor_);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Ending supervise(const SignalGate& gate, ProcessTree& tree, const Say& say) {
  return Loop(gate, tree, say).run();
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace fathom::capture

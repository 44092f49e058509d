// Waits for the program, passing signals on, until it and its children have ended.
#pragma once

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/launcher/process_tree.h"

namespace fathom::capture {

/// Holds the signals that are not for us but for the program, and makes orphans of the program our
/// children. Make it before any thread: threads inherit it. Undone when destroyed.
class SignalGate {
 public:
  SignalGate();
  ~SignalGate();
  SignalGate(const SignalGate&) = delete;
  SignalGate& operator=(const SignalGate&) = delete;

  /// The signal mask from before: what the program gets.
  [[nodiscard]] const sigset_t& before() const { return before_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

struct Ending {
  std::optional<int> status;  ///< As of waitpid(); nothing when we gave up waiting.
  int interrupts = 0;         ///< Times that the user pressed Ctrl-C.
  std::vector<pid_t> left;    ///< Background processes that still ran.
};

/// Says something to the user.
using Say = std::function<void(const std::string&)>;

/// Returns when the program has ended, and its background children too or a second later, or when
/// the user has pressed Ctrl-C twice within three seconds and the program still runs two seconds
/// after that.
Ending supervise(const SignalGate& gate, ProcessTree& tree, const Say& say);

/// What a shell would return for a program that ended so: its exit code, or 128 + signal.
int exit_code_of(int status);

}  // namespace fathom::capture

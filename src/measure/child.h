// One run of a command, timed from its start to its end.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/time.h"
#include "measure/error_output.h"

namespace fathom::measure {

/// How to run a command.
struct ChildOptions {
  std::vector<std::string> environment;  ///< NAME=VALUE, on top of ours.
  std::string input;                     ///< File for its standard input; empty: nothing to read.
  bool show_output = false;  ///< What it prints goes to our standard error; else nowhere.
  std::optional<Duration> timeout;
  /// Bytes of memory of its own that each of its processes may have (RLIMIT_DATA: what it can write
  /// to and shares with nobody). Set by /bin/sh, which becomes the program.
  std::optional<std::int64_t> memory_limit;
  std::function<void(pid_t)> started;  ///< Called when it runs; may be empty.
};

enum class Ended : std::uint8_t { by_itself, timed_out, interrupted };

struct ChildRun {
  std::int64_t wall_ns = 0;    ///< From before fork and exec until wait4() has returned.
  std::int64_t user_ns = 0;    ///< With the children that it waited for, as wait4() says.
  std::int64_t system_ns = 0;  ///< As above.
  /// Highest resident memory of its largest process, bytes. Unset where that is no more than ours:
  /// Linux counts what the process was before exec, too.
  std::optional<std::int64_t> peak_bytes;
  int status = 0;  ///< As of waitpid().
  Ended ended = Ended::by_itself;
  bool left_processes = false;  ///< Some of its group still ran at its end, and were killed.
  std::string last_words;       ///< The end of what it wrote to standard error, unless shown.
  bool said_no_memory = false;  ///< Anywhere in it, shown or not: says_no_memory().

  [[nodiscard]] bool fine() const { return ended == Ended::by_itself && status == 0; }
};

/// "ended with exit code 3", "was ended by SIGSEGV", "took longer than …".
std::string ending_of(const ChildRun& run);

/// Starts one command at a time and waits for it. While this lives, the signals that end a program
/// (SIGINT, SIGTERM, SIGHUP, SIGQUIT) are held: make it before other threads, and from one thread.
/// After one of them, SIGINT is ignored when this ends: what was measured can still be printed.
class ChildRunner {
 public:
  ChildRunner();
  ~ChildRunner();
  ChildRunner(const ChildRunner&) = delete;
  ChildRunner& operator=(const ChildRunner&) = delete;

  /// Runs it in a process group of its own, without a shell, with our environment. What is left of
  /// the group at its end, at the end of the time, or at a signal to us, is killed. Errors:
  /// not_found for a command or input that there is not, unsupported for what cannot be executed,
  /// io for a machine without room for one more process.
  Result<ChildRun> run(const std::vector<std::string>& words, const ChildOptions& options);

  /// The signal that asked us to end, during a run or since; 0 for none.
  int interrupted();

 private:
  /// The next held signal until then (nothing: forever); 0 when the time was up.
  int wait_for_signal(std::optional<std::int64_t> until_ns);

  sigset_t held_{};
  sigset_t before_{};
  int interrupt_ = 0;
  ErrorOutput errors_;
};

}  // namespace fathom::measure

// Alongside: runs where another thread runs, so that it stands still meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sched.h>
#include <sys/types.h>

#include "base/proc_file.h"

namespace fathom::sample {

/// What the kernel says of a thread that runs, waits to run, or sleeps.
struct Whereabouts {
  char state = '?';
  int processor = -1;         ///< Where it runs, or ran last.
  std::int64_t switches = 0;  ///< How often it was given a processor.
  bool operator==(const Whereabouts&) const = default;
};

/// A processor does one thing at a time: while this thread has the one where the other ran last,
/// and that one was not moved, it does not run. It is not stopped; it waits its turn, for as long
/// as `held` is asked for. One thread at a time.
class Alongside {
 public:
  Alongside(pid_t pid, pid_t tid);

  /// Goes to where the other is. False where this thread may not run there.
  bool begin();
  /// Whether the other cannot have run since `begin`: neither was moved, and this one not
  /// interrupted; or it slept all the time.
  [[nodiscard]] bool held();
  /// Goes back to wherever this thread might run before.
  void end();

 private:
  [[nodiscard]] Whereabouts look() const;

  RereadFile stat_;
  RereadFile schedule_;
  mutable std::string buffer_;
  cpu_set_t before_{};
  bool moved_ = false;
  Whereabouts at_begin_;
  std::int64_t own_switches_ = 0;
};

/// Of /proc/PID/task/TID/stat and schedstat.
Whereabouts parse_whereabouts(std::string_view stat, std::string_view schedule);

}  // namespace fathom::sample

// Watch: the perf events of many threads, and one place to wait for all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

#include "base/descriptor.h"
#include "sample/native/mixed_stack.h"
#include "sample/native/perf_event.h"
#include "sample/native/process_code.h"
#include "sample/thread_file.h"

namespace fathom::sample::native {

/// How the looking for native functions went.
struct WatchCounts {
  std::int64_t skipped = 0;    ///< Not unwound, as that would have cost too much.
  std::int64_t samples = 0;    ///< Stacks that the kernel copied.
  std::int64_t joined = 0;     ///< Of those, with Python's functions among them,
  std::int64_t unmatched = 0;  ///< or with Python's stack of another moment, which is left out.
  std::int64_t cut = 0;        ///< Their outer functions could not be found.
  std::int64_t by_code = 0;    ///< Whole, by instructions of functions that have no rules.
  std::int64_t lost = 0;       ///< The kernel had no room for them, or they cannot be read.
  std::int64_t refused = 0;    ///< Threads that perf does not let us look at,
  std::string refusal;         ///< and why the first of them.
  std::int64_t left_out = 0;   ///< Processes with Python, where these are not wanted.
  std::int64_t switched = 0;   ///< Threads whose switches the kernel has written down.
};

/// What perf says of threads, as it comes. One thread at a time.
class Watch {
 public:
  /// A sample each time that a thread has run for `period` ns.
  explicit Watch(std::int64_t period);

  /// Nothing where perf refuses or too many files are open, which is counted.
  std::optional<PerfEvent> open(pid_t process, pid_t thread);
  /// Its thread has ended: it is not waited for any more.
  void leave(const PerfEvent& event);
  /// Of an event from `open` that is about to be closed: adds what was counted.
  void release(const PerfEvent& event);

  /// Nothing where they are not to be had: then how long a thread was blocked where is known by the
  /// looks alone.
  std::optional<SwitchEvent> open_switches(pid_t thread);
  /// One of them is about to be closed.
  void release_switches() { switch_files_.give_back(); }

  /// Returns at `until` (CLOCK_MONOTONIC, ns) at the latest, or earlier. `ready` is called for each
  /// thread of which there is something to read, with whether it has ended.
  using Ready = std::function<void(pid_t process, pid_t thread, bool ended)>;
  void wait(std::int64_t until, const Ready& ready);

  /// ns that a thread runs between two samples.
  [[nodiscard]] std::int64_t period() const { return period_; }
  [[nodiscard]] WatchCounts& counts() { return counts_; }
  [[nodiscard]] const WatchCounts& counts() const { return counts_; }
  [[nodiscard]] ImageCache& images() { return images_; }

 private:
  std::optional<PerfEvent> open_event(pid_t process, pid_t thread);
  void refuse(const std::string& why);

  std::int64_t period_;
  Descriptor poll_;
  FileBudget files_;  ///< Its own: the files of /proc would use up a shared one.
  FileBudget switch_files_;
  ImageCache images_;
  WatchCounts counts_;
};

}  // namespace fathom::sample::native

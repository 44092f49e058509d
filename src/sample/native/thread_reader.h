// ThreadReader: the native stack of a thread, once, without stopping it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "sample/native/process_code.h"
#include "sample/native/unwind.h"

namespace fathom::sample::native {

/// What the kernel shows of the registers of a thread that does not run.
struct BlockedAt {
  Address stack = 0;
  Address counter = 0;
  bool operator==(const BlockedAt&) const = default;
};
/// Of /proc/PID/task/TID/syscall; nothing of a thread that runs.
std::optional<BlockedAt> parse_blocked(std::string_view text);

struct NativeCalls {
  Calls calls;
  std::string reason;  ///< Why there are none, or not all; empty where all are there.
  /// How often it had been given a processor when it was read, of one that waits.
  std::int64_t switches = -1;
};

/// A thread that runs is met by perf. Of one that waits only the stack pointer and where it is are
/// known: rules that need another register end its stack, unless a function further in has saved
/// it. `memory` and `code` must outlive it.
class ThreadReader {
 public:
  ThreadReader(pid_t pid, const Memory& memory, ProcessCode& code)
      : pid_(pid), memory_(memory), code_(code) {}

  /// `state` is the thread's letter in /proc.
  NativeCalls read(pid_t thread, char state);
  /// One try, of a thread that waits and of at most so much of its stack. Nothing where it went on
  /// meanwhile; where nothing can be read, `reason` says why.
  std::optional<NativeCalls> read_blocked(pid_t thread, std::uint64_t most_bytes,
                                          std::string& reason);

 private:
  std::optional<NativeCalls> read_running(pid_t thread, std::string& reason);

  pid_t pid_;
  const Memory& memory_;
  ProcessCode& code_;
};

}  // namespace fathom::sample::native

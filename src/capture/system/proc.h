// One process as /proc shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace fathom::capture {

/// Of /proc/PID/stat. Times include children that it has waited for, as in wait4's rusage; they
/// come in ticks of 10 ms.
struct ProcStat {
  std::string name;
  char state = '?';
  pid_t parent = 0;
  std::int64_t user = 0;     ///< ns.
  std::int64_t system = 0;   ///< ns.
  std::int64_t started = 0;  ///< CLOCK_MONOTONIC, ns; to 10 ms.
  int status = 0;            ///< As of waitpid(), in a zombie that we may look into.
};

std::optional<ProcStat> parse_stat(const std::string& text);
std::optional<ProcStat> read_stat(pid_t pid);

/// Highest resident memory so far, bytes; -1 where unknown.
std::int64_t read_peak(pid_t pid);

/// Bytes that went to and came from storage; -1 where unknown.
struct ProcIo {
  std::int64_t read = -1;
  std::int64_t written = -1;
};
ProcIo read_io(pid_t pid);

/// Its command line; empty for a zombie.
std::vector<std::string> read_command(pid_t pid);
/// The value of a variable that it was started with; nothing where it may not be read.
std::optional<std::string> read_variable(pid_t pid, const std::string& name);
/// The number that the newest process or thread got: while it stays, nothing was started. -1 where
/// unknown.
std::int64_t newest_task();
/// The numbers among a folder's names, in ascending order: of processes or threads. Empty where it
/// cannot be read.
std::vector<pid_t> pids_in(const std::string& folder);
/// Every process that can be seen, in ascending order.
std::vector<pid_t> all_pids();

}  // namespace fathom::capture

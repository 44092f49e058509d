// The processes of a run: the program, its children and theirs, and what each of them used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <poll.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "capture/system/launch.h"
#include "capture/system/proc.h"
#include "wire/writer.h"

namespace fathom::capture {

/// Times in ns, by CLOCK_MONOTONIC; -1 where unknown. User and system time include the children
/// that the process has waited for, as /usr/bin/time has it.
struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::int32_t rank = -1;
  std::string role;  ///< "main", "rank", "loader-worker", "child".
  std::string name;
  std::vector<std::string> command;  ///< Redacted.
  std::int64_t started = 0;
  std::int64_t ended = -1;
  std::int64_t user = -1;
  std::int64_t system = -1;
  std::int64_t peak = -1;     ///< Resident bytes.
  std::int64_t read = -1;     ///< Bytes from storage.
  std::int64_t written = -1;  ///< Bytes to storage.
  std::optional<int> status;  ///< As of waitpid().
  bool exact = false;         ///< From wait4(); otherwise from the last look at /proc.

  [[nodiscard]] bool running() const { return ended < 0; }
};

/// Follows the processes below this one, by looking at /proc and by waiting for those that become
/// our children. What is found is written as records as it happens. One thread at a time.
class ProcessTree {
 public:
  /// `writer` may be null; it must outlive this.
  ProcessTree(const Launched& launched, const std::vector<std::string>& command,
              wire::Writer* writer);
  ~ProcessTree();
  ProcessTree(const ProcessTree&) = delete;
  ProcessTree& operator=(const ProcessTree&) = delete;

  /// Looks at /proc: new processes, what the known ones have used so far, those that are gone.
  void scan();
  /// Takes the end of every child that has ended, without waiting.
  void reap();
  /// Looks at those whose end the descriptors report, before their parents have taken it.
  void look_at_ended(const std::vector<pollfd>& descriptors);

  /// What becomes readable when a process ends that is not our own child.
  [[nodiscard]] std::vector<pollfd> descriptors() const;
  /// In the order of appearance; the program itself is the first.
  [[nodiscard]] const std::vector<Process>& processes() const { return processes_; }
  [[nodiscard]] const Process& main() const { return processes_.front(); }
  [[nodiscard]] std::vector<pid_t> running() const;
  [[nodiscard]] bool holds(pid_t pid) const { return live_.contains(pid); }

 private:
  /// What is kept of a process that runs.
  struct Live {
    std::size_t index = 0;  ///< In processes_.
    int descriptor = -1;    ///< Of the process; -1 where the kernel gave none.
    bool announced = false;
  };
  void find_new();
  [[nodiscard]] bool is_known_zombie(pid_t pid, const ProcStat& stat) const;
  void add(pid_t pid, pid_t parent, std::int64_t started);
  void add_ended(pid_t pid);
  void update(pid_t pid, Live& live);
  void describe(Process& process);
  void announce(const Process& process);
  void end(pid_t pid, std::int64_t now);

  std::vector<Process> processes_;
  std::unordered_map<pid_t, Live> live_;
  /// When those started whose end is known: their parents may leave them as zombies for a while.
  std::unordered_map<pid_t, std::int64_t> ended_;
  std::unordered_map<pid_t, bool> foreign_;  ///< Processes that are none of ours.
  std::int64_t newest_ = -1;                 ///< The newest task when we last looked.
  std::int64_t fork_memory_ = 0;
  wire::Writer* writer_ = nullptr;
};

}  // namespace fathom::capture

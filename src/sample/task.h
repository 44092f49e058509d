// Task: a thread as the kernel sees it, and what it waits for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "sample/memory.h"
#include "sample/thread_list.h"

namespace fathom::sample {

struct Task {
  pid_t id = 0;             ///< As we see it.
  std::int64_t native = 0;  ///< As it sees itself: other in a PID namespace.
  std::string name;
  char state = '?';                  ///< As /proc has it: R, S, D, T, t, Z, X, I.
  std::optional<std::int64_t> call;  ///< The system call that it is in; -1: none.
  std::array<std::uint64_t, 6> arguments{};
  std::string channel;                 ///< Where in the kernel it waits (wchan).
  std::optional<std::int64_t> on_cpu;  ///< ns so far, by the scheduler.
  std::optional<std::int64_t> queued;  ///< ns so far that it could have run but had to wait.
  std::int64_t switches = 0;           ///< How often it was given a processor.
  std::int64_t started = 0;            ///< CLOCK_MONOTONIC, ns; to 10 ms. 0: not known.
};

/// The numbers of a process's threads, ascending; empty where there is none.
std::vector<pid_t> task_ids(pid_t pid);
/// How many there are; -1 where that is not known. One system call.
std::int64_t task_count(pid_t pid);

/// One of them; its state is '?' where it has ended.
Task read_task(pid_t pid, pid_t id);

/// The same without its system call and where in the kernel it waits.
Task read_counts(pid_t pid, pid_t id);

/// The threads of a process; empty where there is none.
std::vector<Task> read_tasks(pid_t pid);

/// What /proc/PID/task/TID/syscall says, into the task.
void parse_call(std::string_view text, Task& task);

/// What the state's letter stands for: "running", "sleeping", "in the kernel" (D), "stopped" …
std::string_view state_word(char state);

/// Kinds of what is waited for.
enum class WaitKind : std::uint8_t { none, gil, lock, sleep, child, file, poll, call };
std::string_view to_string(WaitKind kind);

struct Wait {
  WaitKind kind = WaitKind::none;
  std::string call;                  ///< The system call.
  std::vector<std::string> objects;  ///< "pipe:[123]", "process 17", "a mutex".
  bool to_disk = false;              ///< Until the disk has what was written (fsync).
};
/// What a recording calls it: "sync" where it is for the disk, else its kind.
std::string_view cause_of(const Wait& wait);

/// What a thread that does not run waits for; kind none for one that runs or whose call is unknown.
Wait wait_of(pid_t pid, const Memory& memory, const Task& task, const std::vector<Gil>& gils);

}  // namespace fathom::sample

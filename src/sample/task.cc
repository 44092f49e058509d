// Reads the threads of a process from /proc.
#include "sample/task.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include <linux/futex.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock_words.h"
#include "base/proc_file.h"
#include "capture/system/proc.h"
#include "sample/schedule.h"
#include "sample/system_call.h"

namespace fathom::sample {
namespace {

constexpr std::size_t kMostTasks = 65536;
constexpr std::size_t kMostPolled = 64;  // descriptors that are looked at
constexpr std::size_t kMostObjects = 8;  // that are named

std::string folder_of(pid_t pid, pid_t id) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(id);
}

/// The last of its numbers: one for each PID namespace that it is in, the innermost last.
std::int64_t own_number(const std::string& folder, pid_t id) {
  const std::string status = read_file(folder + "/status").value_or("");
  const std::size_t line = status.find("\nNSpid:");
  if (line == std::string::npos) return id;
  const std::size_t end = std::min(status.find('\n', line + 1), status.size());
  const std::size_t last = status.find_last_of(" \t", end - 1);
  std::int64_t number = id;
  if (last != std::string::npos && last > line)
    std::from_chars(status.data() + last + 1, status.data() + end, number);
  return number;
}

/// What a descriptor of the process is open on.
std::string object_of(pid_t pid, std::int64_t descriptor) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(descriptor);
  std::array<char, 4096> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size <= 0) return "file descriptor " + std::to_string(descriptor);
  return {target.data(), static_cast<std::size_t>(size)};
}

std::vector<std::string> polled_objects(pid_t pid, const Memory& memory, const Task& task) {
  std::vector<pollfd> list(std::min<std::uint64_t>(task.arguments[1], kMostPolled));
  if (list.empty() || !memory.read(task.arguments[0], std::as_writable_bytes(std::span(list))))
    return {};
  std::vector<std::string> objects;
  for (const pollfd& entry : list) {
    if (entry.fd < 0 || objects.size() == kMostObjects) continue;
    objects.push_back(object_of(pid, entry.fd));
  }
  return objects;
}

std::vector<std::string> child_of(std::int64_t process) {
  if (process <= 0) return {"any child"};
  return {"process " + std::to_string(process)};
}

bool is_gil(const std::vector<Gil>& gils, Address futex) {
  return std::ranges::any_of(gils, [futex](const Gil& gil) { return gil.holds(futex); });
}

/// What kind of lock a futex is, by how it is waited for; nothing where that does not tell.
std::vector<std::string> lock_of(const Task& task) {
  const auto how = static_cast<std::uint32_t>(task.arguments[1]);
  const auto expected = static_cast<std::uint32_t>(task.arguments[2]);
  // FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME and FUTEX_LOCK_PI2 (Linux 5.14), without a sign.
  constexpr std::uint32_t kPrivate = 128;
  constexpr std::uint32_t kRealtime = 256;
  constexpr std::uint32_t kLockPi2 = 13;
  constexpr std::uint32_t kTakenWithWaiters = 2;  // In glibc's mutexes.
  const std::uint32_t command = how & ~(kPrivate | kRealtime);
  const bool is_private = (how & kPrivate) != 0;
  if ((command == FUTEX_WAIT && expected == kTakenWithWaiters) || command == FUTEX_LOCK_PI ||
      command == kLockPi2)
    return {std::string(kMutexObject)};
  // The end of a thread is waited for at its number, which is not 0.
  if (command == FUTEX_WAIT_BITSET && !is_private && expected == 0)
    return {std::string(kSharedSemaphoreObject)};
  return {};
}

}  // namespace

void parse_call(std::string_view text, Task& task) {
  const char* at = text.data();
  const char* const end = at + text.size();
  if (text.starts_with("running")) return;
  std::int64_t number = 0;
  const auto parsed = std::from_chars(at, end, number);
  if (parsed.ec != std::errc()) return;
  task.call = number;
  at = parsed.ptr;
  for (std::uint64_t& argument : task.arguments) {
    if (end - at < 4 || at[0] != ' ' || at[1] != '0' || at[2] != 'x') return;
    at = std::from_chars(at + 3, end, argument, 16).ptr;
  }
}

std::vector<pid_t> task_ids(pid_t pid) {
  std::vector<pid_t> ids = capture::pids_in("/proc/" + std::to_string(pid) + "/task");
  if (ids.size() > kMostTasks) ids.resize(kMostTasks);
  return ids;
}

std::int64_t task_count(pid_t pid) {
  struct stat folder {};
  const std::string path = "/proc/" + std::to_string(pid) + "/task";
  // One for each folder in it, one for itself and one for its name.
  if (::stat(path.c_str(), &folder) != 0 || folder.st_nlink < 3) return -1;
  return static_cast<std::int64_t>(folder.st_nlink) - 2;
}

Task read_counts(pid_t pid, pid_t id) {
  const std::string folder = folder_of(pid, id);
  Task task;
  task.id = id;
  task.native = own_number(folder, id);
  if (const auto stat = capture::parse_stat(read_file(folder + "/stat").value_or(""))) {
    task.name = stat->name;
    task.state = stat->state;
    task.started = stat->started;
  }
  if (const auto schedule = parse_schedule(read_file(folder + "/schedstat").value_or(""))) {
    task.on_cpu = schedule->on_cpu;
    task.queued = schedule->queued;
    task.switches = schedule->switches;
  }
  return task;
}

Task read_task(pid_t pid, pid_t id) {
  const std::string folder = folder_of(pid, id);
  Task task = read_counts(pid, id);
  parse_call(read_file(folder + "/syscall").value_or(""), task);
  task.channel = read_file(folder + "/wchan").value_or("");
  if (task.channel == "0") task.channel.clear();
  return task;
}

std::vector<Task> read_tasks(pid_t pid) {
  std::vector<Task> tasks;
  for (const pid_t id : task_ids(pid)) tasks.push_back(read_task(pid, id));
  return tasks;
}

std::string_view state_word(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
    case 'I':
      return "sleeping";
    case 'D':
      return "uninterruptible";
    case 'T':
      return "stopped";
    case 't':
      return "traced";
    case 'Z':
    case 'X':
      return "ended";
    default:
      return "unknown";
  }
}

std::string_view to_string(WaitKind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"none",  "gil",  "lock", "sleep",
                                                      "child", "file", "poll", "call"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view cause_of(const Wait& wait) { return wait.to_disk ? "sync" : to_string(wait.kind); }

Wait wait_of(pid_t pid, const Memory& memory, const Task& task, const std::vector<Gil>& gils) {
  Wait wait;
  if (!task.call || *task.call < 0 || task.state == 'R') return wait;
  const SystemCall call = system_call(*task.call);
  wait.call = call.name.empty() ? "system call " + std::to_string(*task.call) : call.name;
  wait.to_disk = call.to_disk;
  const auto first = task.arguments[0];
  switch (call.operand) {
    case Operand::none:
      wait.kind = WaitKind::call;
      break;
    case Operand::file:
      wait.kind = WaitKind::file;
      wait.objects = {object_of(pid, static_cast<std::int32_t>(first))};
      break;
    case Operand::path:
      wait.kind = WaitKind::file;
      break;
    case Operand::polled:
      wait.kind = WaitKind::poll;
      wait.objects = polled_objects(pid, memory, task);
      if (task.arguments[1] == 0) wait.kind = WaitKind::sleep;
      break;
    case Operand::futex:
      wait.kind = is_gil(gils, first) ? WaitKind::gil : WaitKind::lock;
      if (wait.kind == WaitKind::lock) wait.objects = lock_of(task);
      break;
    case Operand::sleep:
      wait.kind = WaitKind::sleep;
      break;
    case Operand::child:
      wait.kind = WaitKind::child;
      wait.objects = child_of(static_cast<std::int32_t>(first));
      break;
    case Operand::child_by:
      wait.kind = WaitKind::child;
      wait.objects = child_of(first == P_PID ? static_cast<std::int32_t>(task.arguments[1]) : -1);
      break;
    case Operand::select:
      wait.kind = first == 0 ? WaitKind::sleep : WaitKind::poll;
      break;
  }
  return wait;
}

}  // namespace fathom::sample

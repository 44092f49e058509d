// Looks at a process once.
#include "sample/process_look.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/proc_file.h"
#include "capture/launcher/redact.h"
#include "capture/system/files.h"
#include "capture/system/proc.h"
#include "sample/alongside.h"
#include "sample/canary.h"
#include "sample/mappings.h"
#include "sample/native/thread_reader.h"
#include "sample/runtime.h"
#include "sample/thread_list.h"

namespace fathom::sample {
namespace {

constexpr std::size_t kMostProcesses = 4096;
constexpr std::string_view kScope = "/proc/sys/kernel/yama/ptrace_scope";

std::string named(pid_t pid) { return "process " + std::to_string(pid); }

Error gone(pid_t pid) {
  return {.code = ErrorCode::not_found, .message = named(pid) + " is not there"};
}

/// Why the kernel does not let us read its memory; empty where it does.
std::string refusal(pid_t pid, const std::vector<Mapping>& mappings) {
  std::byte byte{};
  const iovec local{&byte, 1};
  for (const Mapping& mapping : mappings) {
    if (!mapping.readable || mapping.path.starts_with("[v")) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the other process's
    const iovec remote{reinterpret_cast<void*>(mapping.begin), 1};
    if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1) return {};
    if (errno == EPERM || errno == ENOSYS) break;
  }
  if (errno != EPERM && errno != ENOSYS) return {};
  const std::string scope = capture::read_line(std::string(kScope));
  if (scope == "1" || scope == "2") {
    return "the kernel does not let its memory be read (kernel.yama.ptrace_scope is " + scope +
           "): run this with sudo, or in a container with the capability SYS_PTRACE";
  }
  return "the kernel does not let its memory be read: run this as root, or in a container with the "
         "capability SYS_PTRACE";
}

Error not_permitted(pid_t pid) {
  struct stat owner {};
  const std::string folder = "/proc/" + std::to_string(pid);
  const bool known = ::stat(folder.c_str(), &owner) == 0;
  std::string message = named(pid);
  if (known && owner.st_uid != ::geteuid())
    message += " belongs to another user (" + std::to_string(owner.st_uid) + ")";
  else
    message += " may not be looked at";
  // Of a process in a sandbox, not even root may see more.
  message += ::geteuid() == 0 ? ", not by root either" : ": run this with sudo";
  return {.code = ErrorCode::io, .message = message};
}

/// Native functions of a process's threads.
class NativeLooks {
 public:
  NativeLooks(pid_t pid, const Memory& memory, native::ImageCache& images)
      : code_(pid, memory, images), reader_(pid, memory, code_) {}

  /// What is then to be put together with Python's functions.
  native::CallNames read(const ThreadLook& thread, std::string& reason) {
    native::NativeCalls found = reader_.read(thread.task.id, thread.task.state);
    reason = std::move(found.reason);
    return native::names_of(found.calls, code_);
  }

  void add_to(ThreadLook& thread) {
    NativeLook look;
    const native::CallNames names = read(thread, look.reason);
    if (!names.looks.empty()) look.stack = native::mix(names, {}, {});
    thread.native = std::move(look);
  }

 private:
  native::ProcessCode code_;
  native::ThreadReader reader_;
};

/// CPython's threads in a process whose tasks are known.
class PythonLook {
 public:
  /// `natives` may be null.
  PythonLook(const Memory& memory, Runtime runtime, NativeLooks* natives)
      : memory_(memory),
        runtime_(std::move(runtime)),
        codes_(memory, runtime_.layout),
        natives_(natives) {}

  /// False where the stacks do not show the function that the hook has named at `canary`: then
  /// nothing of its Python is believed, and nothing is added.
  bool add_to(std::vector<ThreadLook>& threads, pid_t pid, std::optional<Address> canary) {
    std::vector<std::int64_t> natives;
    std::unordered_map<std::int64_t, std::size_t> by_native;
    for (const ThreadLook& thread : threads) {
      by_native.emplace(thread.task.native, natives.size());
      natives.push_back(thread.task.native);
    }
    const ThreadList list = read_threads(memory_, runtime_, natives);
    if (canary && !shows(*canary, list, threads, pid)) return false;
    for (ThreadLook& thread : threads) {
      thread.wait = wait_of(pid, memory_, thread.task, list.gils);
      if (thread.wait.kind == WaitKind::gil) thread.gil = GilState::waits;
    }
    for (const PythonThread& python : list.threads) {
      const auto found = by_native.find(python.native);
      if (found == by_native.end()) threads.emplace_back();
      describe(pid, python, list.gils,
               found == by_native.end() ? threads.back() : threads[found->second]);
    }
    return true;
  }

 private:
  /// True, too, where nobody is in the function, or it changes meanwhile.
  bool shows(Address page, const ThreadList& list, const std::vector<ThreadLook>& threads,
             pid_t pid) {
    for (int missed = 0; missed < kMostCanaryMissed; ++missed) {
      const std::optional<Canary> said = read_canary(memory_, page);
      if (!said) return true;
      const auto of_kernel = std::ranges::find(
          threads, said->native, [](const ThreadLook& thread) { return thread.task.native; });
      if (of_kernel == threads.end()) return true;
      const auto of_python = std::ranges::find(list.threads, said->native, &PythonThread::native);
      if (of_python != list.threads.end()) {
        StackReader reader(memory_, runtime_.layout, codes_, of_python->address,
                           of_python->interpreter);
        if (is_on(read(reader, pid, of_kernel->task.id), *said, codes_)) return true;
      }
      if (read_canary(memory_, page) != said) return true;
    }
    return false;
  }

  void describe(pid_t pid, const PythonThread& python, const std::vector<Gil>& gils,
                ThreadLook& look) {
    look.python = true;
    const bool holds = std::ranges::any_of(
        gils, [&](const Gil& gil) { return gil.enabled && gil.holder == python.address; });
    if (holds && look.gil == GilState::none) look.gil = GilState::holds;
    StackReader reader(memory_, runtime_.layout, codes_, python.address, python.interpreter);
    NativeLook native;
    native::CallNames names;
    // One right after the other: a thread that runs is at nearly the same place.
    if (natives_ != nullptr && look.task.id != 0) names = natives_->read(look, native.reason);
    const Stack& stack = read(reader, pid, look.task.id);
    // Of several interpreters in one thread the one that runs something is shown.
    if (stack.frames.empty() && look.stack == StackState::whole) return;
    look.stack = stack.state;
    look.frames.clear();
    for (const Frame& frame : stack.frames) look.frames.push_back(look_of(frame, runtime_.layout));
    if (natives_ == nullptr || look.task.id == 0) return;
    std::vector<std::size_t> runs;
    if (stack.state == StackState::whole) runs = native::evaluator_runs(stack.frames);
    if (!names.looks.empty()) native.stack = native::mix(names, look.frames, runs);
    look.native = std::move(native);
  }

  /// A thread that runs while it is read is met on its own processor.
  static const Stack& read(StackReader& reader, pid_t pid, pid_t tid) {
    constexpr int kTries = 5;
    Alongside alongside(pid, tid);
    const Stack* stack = nullptr;
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const bool near = attempt > 0 && alongside.begin();
      stack = &reader.read();
      if (stack->state == StackState::whole && (attempt == 0 || !near || alongside.held())) break;
    }
    alongside.end();
    return *stack;
  }

  const Memory& memory_;
  Runtime runtime_;
  CodeTable codes_;
  NativeLooks* natives_;
};

std::vector<std::string> command_of(pid_t pid, const capture::ProcStat& stat) {
  std::vector<std::string> command = capture::redact_command(capture::read_command(pid));
  if (command.empty()) command.push_back(stat.name);
  return command;
}

std::optional<std::int64_t> number_in(pid_t pid, const std::string& variable) {
  const std::string text = capture::read_variable(pid, variable).value_or("");
  std::int64_t number = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<PythonOf> python_of(pid_t pid, const Memory& memory) {
  int error = 0;
  const std::optional<std::vector<Mapping>> mappings = read_mappings(pid, error);
  if (!mappings) return error == ENOENT || error == ESRCH ? gone(pid) : not_permitted(pid);
  PythonOf python;
  python.user = !mappings->empty();
  python.reason = python.user ? refusal(pid, *mappings) : "it is a thread of the kernel";
  if (!python.reason.empty()) return python;
  python.canary = find_canary(*mappings);
  Result<Runtime> runtime = find_runtime(pid, memory, *mappings);
  if (runtime)
    python.runtime = std::move(*runtime);
  else
    python.reason = runtime.error().message;
  return python;
}

Result<ProcessLook> look_at(pid_t pid, native::ImageCache* images) {
  const std::optional<capture::ProcStat> stat = capture::read_stat(pid);
  if (!stat) return gone(pid);
  ProcessLook look;
  look.pid = pid;
  look.parent = stat->parent;
  look.command = command_of(pid, *stat);
  look.rank = number_in(pid, "RANK");
  look.local_rank = number_in(pid, "LOCAL_RANK");
  if (stat->state == 'Z') {
    look.reason = "it has ended, and its parent has not asked for its exit code yet";
    return look;
  }
  for (Task& task : read_tasks(pid)) {
    look.threads.emplace_back();
    look.threads.back().task = std::move(task);
  }
  const ProcessMemory memory(pid);
  Result<PythonOf> python = python_of(pid, memory);
  if (!python) return std::move(python).error();
  look.reason = std::move((*python).reason);
  std::optional<NativeLooks> natives;
  if (images != nullptr && (*python).user) natives.emplace(pid, memory, *images);
  bool read = false;
  if (std::optional<Runtime>& runtime = (*python).runtime) {
    const std::string version = runtime->version;
    read = PythonLook(memory, std::move(*runtime), natives ? &*natives : nullptr)
               .add_to(look.threads, pid, (*python).canary);
    if (read)
      look.python = version;
    else
      look.reason = kCanaryMissed;
  }
  if (!read && (*python).user) {
    // The kernel's own threads are in no system call.
    for (ThreadLook& thread : look.threads) thread.wait = wait_of(pid, memory, thread.task, {});
  }
  for (ThreadLook& thread : look.threads) {
    if (natives && thread.task.id != 0 && !thread.native) natives->add_to(thread);
  }
  // Its number may be another process's by now.
  const std::optional<capture::ProcStat> after = capture::read_stat(pid);
  constexpr std::int64_t kTickNs = 10'000'000;
  if (!after || std::abs(after->started - stat->started) >= kTickNs / 2) return gone(pid);
  return look;
}

std::vector<pid_t> process_tree(pid_t root) {
  std::unordered_map<pid_t, std::vector<pid_t>> children;
  for (const pid_t pid : capture::all_pids()) {
    if (const std::optional<capture::ProcStat> stat = capture::read_stat(pid))
      children[stat->parent].push_back(pid);
  }
  std::vector<pid_t> tree{root};
  for (std::size_t at = 0; at < tree.size() && tree.size() < kMostProcesses; ++at) {
    for (const pid_t child : children[tree[at]]) tree.push_back(child);
  }
  return tree;
}

bool lists_children() {
  static const bool lists = ::access("/proc/thread-self/children", R_OK) == 0;
  return lists;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t thread : task_ids(pid)) {
    const std::vector<pid_t> own = children_of(pid, thread);
    children.insert(children.end(), own.begin(), own.end());
  }
  return children;
}

std::vector<pid_t> children_of(pid_t pid, pid_t thread) {
  std::vector<pid_t> children;
  const std::string list =
      read_file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/children")
          .value_or(std::string());
  const char* at = list.data();
  const char* const end = at + list.size();
  pid_t child = 0;
  for (auto next = std::from_chars(at, end, child); next.ec == std::errc();
       next = std::from_chars(at, end, child)) {
    children.push_back(child);
    at = next.ptr == end ? end : next.ptr + 1;
  }
  return children;
}

}  // namespace fathom::sample

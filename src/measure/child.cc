// Runs one command by posix_spawn, and waits for it by signals.
#include "measure/child.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/quantity_text.h"
#include "capture/system/argument_list.h"
#include "capture/system/launch.h"
#include "capture/system/no_process.h"
#include "capture/system/proc.h"
#include "capture/system/signals.h"

namespace fathom::measure {
namespace {

constexpr std::array kEndings = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMicrosecond = 1000;
constexpr std::int64_t kGrace = 2 * kSecond;
constexpr const char* kShell = "/bin/sh";

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

std::int64_t ns_of(const timeval& time) {
  return time.tv_sec * kSecond + time.tv_usec * kMicrosecond;
}

/// The most memory that this program had, bytes. RUSAGE_SELF also knows what the process had before
/// it became this program: that of whoever started us.
std::int64_t own_peak() {
  const std::int64_t peak = capture::read_peak(getpid());
  if (peak >= 0) return peak;
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  return std::int64_t{own.ru_maxrss} * 1024;
}

/// Files, signals and group of a new process.
class SpawnPlan {
 public:
  SpawnPlan(int input, int output, int errors, const sigset_t& mask) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_adddup2(&files_, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, errors, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setsigmask(&attributes_, &mask);
    sigset_t ours;  // We ignore it for ourselves.
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &ours);
  }
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  /// 0, or why not.
  int spawn(pid_t& pid, const std::string& program, const capture::Words& words,
            const capture::Words& environment) const {
    return posix_spawn(&pid, program.c_str(), &files_, &attributes_, words.data(),
                       environment.data());
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

Error no_program(const std::string& name) {
  const bool named = name.find('/') != std::string::npos;
  struct stat facts {};
  if (named && stat(name.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode))
    return {ErrorCode::not_found, name + ": this is a folder, and no program"};
  return {ErrorCode::not_found,
          name + (named ? ": there is no such file" : ": there is no such command in PATH")};
}

/// A shell that limits itself and then becomes the command.
std::vector<std::string> within_limit(std::int64_t bytes, std::vector<std::string> words) {
  std::vector<std::string> wrapped = {
      kShell, "-c", "ulimit -d " + std::to_string(bytes / 1024) + " && exec \"$@\"", kShell};
  wrapped.insert(wrapped.end(), std::make_move_iterator(words.begin()),
                 std::make_move_iterator(words.end()));
  return wrapped;
}

}  // namespace

std::string ending_of(const ChildRun& run) {
  if (run.ended == Ended::timed_out) {
    return "ran for " + duration_text(duration_ns(run.wall_ns)) +
           ", longer than it may (--timeout), and was ended";
  }
  if (run.ended == Ended::interrupted) return "was interrupted";
  if (WIFSIGNALED(run.status)) return "was ended by " + capture::signal_name(WTERMSIG(run.status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(run.status));
}

ChildRunner::ChildRunner() {
  sigemptyset(&held_);
  for (const int signal : kEndings) sigaddset(&held_, signal);
  sigaddset(&held_, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

ChildRunner::~ChildRunner() {
  // Whoever is impatient presses Ctrl-C twice: what was measured is to be printed all the same.
  // SIGTERM and SIGQUIT still end us.
  if (interrupt_ != 0) std::signal(SIGINT, SIG_IGN);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int ChildRunner::wait_for_signal(std::optional<std::int64_t> until_ns) {
  timespec left{};
  if (until_ns) {
    const std::int64_t rest = std::max<std::int64_t>(0, *until_ns - now_ns());
    left = {.tv_sec = rest / kSecond, .tv_nsec = rest % kSecond};
  }
  const int signal = sigtimedwait(&held_, nullptr, until_ns ? &left : nullptr);
  if (signal > 0 && signal != SIGCHLD) interrupt_ = signal;
  return std::max(0, signal);
}

int ChildRunner::interrupted() {
  while (wait_for_signal(0) != 0) {
  }
  return interrupt_;
}

Result<ChildRun> ChildRunner::run(const std::vector<std::string>& command,
                                  const ChildOptions& options) {
  std::string program = capture::find_program(command.front());
  if (program.empty()) return no_program(command.front());
  std::vector<std::string> words = command;
  if (options.memory_limit) {
    words.front() = program;
    words = within_limit(*options.memory_limit, std::move(words));
    program = kShell;
  }
  const std::string from = options.input.empty() ? "/dev/null" : options.input;
  const Descriptor input(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (input.get() < 0)
    return Error{ErrorCode::not_found, from + ": cannot be read: " + std::strerror(errno)};
  const Descriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const int errors = errors_.begin(options.show_output);
  const SpawnPlan plan(input.get(), options.show_output ? STDERR_FILENO : nowhere.get(),
                       errors >= 0 ? errors : nowhere.get(), before_);
  const capture::Words arguments(words);
  const capture::Words environment(capture::environment_with(options.environment));

  ChildRun run;
  pid_t pid = 0;
  const std::int64_t began = now_ns();
  const int reason = plan.spawn(pid, program, arguments, environment);
  errors_.started();
  if (reason == EAGAIN) return capture::no_process(reason);
  if (reason != 0) {
    return Error{reason == ENOMEM ? ErrorCode::io : ErrorCode::unsupported,
                 program + ": cannot be executed: " + std::strerror(reason)};
  }
  if (options.started) options.started(pid);
  rusage used{};
  std::optional<std::int64_t> ends_at;
  if (options.timeout) ends_at = began + to_ns(*options.timeout);
  while (wait4(pid, &run.status, WNOHANG, &used) == 0) {
    // Once a second the memory that takes its errors is looked at.
    const std::int64_t look = now_ns() + kSecond;
    wait_for_signal(ends_at ? std::min(look, *ends_at) : look);
    errors_.look();
    const bool late = ends_at && now_ns() >= *ends_at;
    if (run.ended == Ended::by_itself && interrupt_ != 0) {
      run.ended = Ended::interrupted;
      kill(-pid, SIGTERM);
      ends_at = now_ns() + kGrace;
    } else if (late) {
      if (run.ended == Ended::by_itself) run.ended = Ended::timed_out;
      kill(-pid, SIGKILL);
      ends_at.reset();
    }
  }
  run.wall_ns = now_ns() - began;
  // Ctrl-C reaches the whole group of a terminal, and a child that was just spawned is still of
  // ours: what ended it was meant for us.
  if (run.ended == Ended::by_itself && run.status != 0 && interrupted() != 0)
    run.ended = Ended::interrupted;
  run.left_processes = kill(-pid, SIGKILL) == 0;
  run.user_ns = ns_of(used.ru_utime);
  run.system_ns = ns_of(used.ru_stime);
  // Until the child was another program, the kernel counted this one's memory as its own.
  const std::int64_t peak = std::int64_t{used.ru_maxrss} * 1024;
  if (peak > own_peak()) run.peak_bytes = peak;
  errors_.end();
  run.last_words = errors_.last_words();
  run.said_no_memory = errors_.said_no_memory();
  return run;
}

}  // namespace fathom::measure

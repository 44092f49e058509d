// Runs a helper program with a time limit.
#include "capture/system/briefly.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/system/argument_list.h"
#include "capture/system/no_process.h"

namespace fathom::capture {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::size_t kMostOutput = std::size_t{256} << 10;
constexpr int kCannotRun = 127;

/// In the child: only what may be called between fork and exec.
[[noreturn]] void become(const Words& command, const Words& environment, int output) {
  setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  execvpe(command.data()[0], command.data(), environment.data());
  _exit(kCannotRun);
}

/// Reads until the other end is closed; false when the time is up first.
bool read_until(int descriptor, Steady::time_point deadline, std::string& output) {
  std::array<char, 4096> buffer{};
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
    if (left <= 0) return false;
    pollfd waited{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = poll(&waited, 1, static_cast<int>(std::min<long>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got == 0) return true;
    if (got > 0 && output.size() < kMostOutput)
      output.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<Briefly> run_briefly(const std::vector<std::string>& command, Duration limit,
                            const std::vector<std::string>& environment) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error{ErrorCode::io, command.front() + ": no pipe can be made"};
  const Words words(command);
  const Words variables(environment_with(environment));
  const pid_t child = fork();
  if (child == 0) become(words, variables, ends[1]);
  const int reason = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return no_process(reason).in(command.front());
  }
  Briefly ran;
  const bool ended = read_until(ends[0], Steady::now() + limit, ran.output);
  ::close(ends[0]);
  // Also those that it has started; a program that closed its output but runs on ends here, too.
  if (!ended) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended)
    return Error{ErrorCode::io, command.front() + ": took longer than it may, and was ended"};
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (ran.code == kCannotRun && ran.output.empty())
    return Error{ErrorCode::not_found, command.front() + ": cannot be run"};
  return ran;
}

}  // namespace fathom::capture

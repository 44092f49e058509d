// Starts the program by fork and exec.
#include "capture/system/launch.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/system/argument_list.h"
#include "capture/system/files.h"
#include "capture/system/loader.h"
#include "capture/system/no_process.h"
#include "wire/writer.h"

namespace fathom::capture {
namespace {

/// In the child: only what may be called between fork and exec.
[[noreturn]] void become(char* const* command, char* const* environment, const sigset_t& mask,
                         int report) {
  std::signal(SIGPIPE, SIG_DFL);  // We ignore it for ourselves.
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execvpe(command[0], command, environment);
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &reason, sizeof reason);
  _exit(127);
}

bool is_file(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

bool is_folder(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

Error not_started(const std::string& name, int reason) {
  const std::string path = find_program(name);
  if (reason == ENOENT && !path.empty()) {
    const std::string loader = loader_of(path);
    return {
        ErrorCode::not_found,
        path + (loader.empty() ? ": the interpreter that its first line names is not there"
                               : ": its loader " + loader + " is not there" +
                                     (is_of_musl(loader) ? ": it is made for musl (Alpine)" : ""))};
  }
  const bool named = name.find('/') != std::string::npos;
  // A folder of PATH that may not be searched is no reason to blame the command.
  const bool nowhere = path.empty() && (reason == ENOTDIR || (reason == EACCES && !named));
  if (reason == ENOENT || nowhere) {
    return {ErrorCode::not_found,
            name + (named ? ": there is no such file" : ": there is no such command in PATH")};
  }
  const std::string shown = path.empty() ? name : path;
  if (is_folder(shown)) return {ErrorCode::unsupported, shown + ": is a folder, not a program"};
  if (reason == EACCES) {
    return {ErrorCode::unsupported, shown +
                                        ": may not be executed (chmod +x, or name its "
                                        "interpreter: python " +
                                        name + ")"};
  }
  const ErrorCode code =
      reason == EAGAIN || reason == ENOMEM ? ErrorCode::io : ErrorCode::unsupported;
  return {code, shown + ": cannot be executed: " + std::strerror(reason)};
}

std::int64_t resident_bytes() {
  const std::string text = read_small("/proc/self/statm").value_or("");
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos) return 0;
  return std::strtoll(text.c_str() + blank, nullptr, 10) * sysconf(_SC_PAGESIZE);
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_file(name) ? name : std::string();
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/usr/local/bin:/bin:/usr/bin" : variable;
  std::string fallback;
  while (true) {
    const std::size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    std::string path = std::string(folder.empty() ? "." : folder) + "/" + name;
    if (is_file(path)) {
      if (access(path.c_str(), X_OK) == 0) return path;
      if (fallback.empty()) fallback = path;
    }
    if (colon == std::string_view::npos) return fallback;
    rest.remove_prefix(colon + 1);
  }
}

Result<Launched> launch(const std::vector<std::string>& command,
                        const std::vector<std::string>& environment, const sigset_t& mask) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Error{ErrorCode::io, "no pipe can be made"};
  const Words words(command);
  const Words variables(environment_with(environment));
  Launched launched{.started = wire::monotonic_ns(), .fork_memory = resident_bytes()};
  launched.pid = fork();
  if (launched.pid == 0) become(words.data(), variables.data(), mask, ends[1]);
  const int fork_reason = errno;
  ::close(ends[1]);
  int reason = 0;
  ssize_t got = 0;
  while (launched.pid > 0 && (got = ::read(ends[0], &reason, sizeof reason)) < 0 &&
         errno == EINTR) {
  }
  ::close(ends[0]);
  if (launched.pid < 0) {
    return no_process(fork_reason);
  }
  if (got != sizeof reason) return launched;
  waitpid(launched.pid, nullptr, 0);
  return not_started(command.front(), reason);
}

int exit_code_of_failure(const Error& error) {
  return error.code == ErrorCode::not_found ? 127 : 126;
}

}  // namespace fathom::capture

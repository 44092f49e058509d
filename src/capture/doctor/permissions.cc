// Checks the rights of this user and of this process.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/doctor/checks.h"
#include "capture/system/files.h"

namespace fathom::capture {
namespace {

struct Capability {
  unsigned bit;
  const char* name;
};
constexpr Capability kCapabilities[] = {{12, "NET_ADMIN"},    {19, "SYS_PTRACE"}, {21, "SYS_ADMIN"},
                                        {24, "SYS_RESOURCE"}, {38, "PERFMON"},    {39, "BPF"}};

Check user_check(const std::string& status) {
  Check check{.section = "Permissions", .what = "user"};
  check.detail = geteuid() == 0 ? "root" : "user " + std::to_string(geteuid());
  const auto set = std::strtoull(field_of(status, "CapEff").c_str(), nullptr, 16);
  std::string names;
  for (const Capability& capability : kCapabilities) {
    if ((set >> capability.bit & 1U) != 0)
      names += (names.empty() ? "" : ", ") + std::string(capability.name);
  }
  check.detail += names.empty() ? ", without special capabilities" : ", with " + names;
  return check;
}

Check seccomp_check(const std::string& status) {
  Check check{.section = "Permissions", .what = "seccomp"};
  const std::string mode = field_of(status, "Seccomp");
  check.detail = mode == "0"   ? "no filter of system calls"
                 : mode == "2" ? "a filter of system calls is on (as containers have it)"
                 : mode == "1" ? "strict: hardly any system call is allowed"
                               : "the kernel does not report it";
  return check;
}

/// Counts this thread's CPU clock: what perf needs at the least.
int try_perf_event() {
  perf_event_attr wanted{};
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.size = sizeof wanted;
  wanted.config = PERF_COUNT_SW_CPU_CLOCK;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  const long descriptor = syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0UL);
  if (descriptor < 0) return errno;
  ::close(static_cast<int>(descriptor));
  return 0;
}

/// Of a machine that is not the one at hand: what its setting comes to.
int perf_refusal(const std::string& root, const std::string& level) {
  if (level.empty()) return ENOENT;
  constexpr int kOwnProcesses = 2;
  return std::atoi(level.c_str()) <= kOwnProcesses || has_capability(root, CAP_PERFMON) ? 0
                                                                                        : EACCES;
}

Check perf_check(const std::string& root) {
  Check check{.section = "Permissions", .what = "perf_event"};
  const std::string level = read_line(root + "/proc/sys/kernel/perf_event_paranoid");
  const int refusal = root.empty() ? try_perf_event() : perf_refusal(root, level);
  check.detail = level.empty() ? "the kernel has none" : "perf_event_paranoid is " + level;
  if (refusal == 0) {
    check.state = CheckState::fine;
    check.detail += ": own processes may be sampled, native functions too";
    return check;
  }
  check.state = CheckState::missing;
  check.detail += std::string(": refused (") + std::strerror(refusal) + ")";
  check.lost =
      "native functions of threads that run (fathom dump --native, fathom sample --native, fathom "
      "run --with samples)";
  check.remedy =
      "an administrator sets kernel.perf_event_paranoid=2, or gives CAP_PERFMON; in a "
      "container its seccomp profile must allow perf_event_open";
  return check;
}

Check ptrace_check(const std::string& root) {
  Check check{.section = "Permissions", .what = "ptrace"};
  const std::string scope = read_line(root + "/proc/sys/kernel/yama/ptrace_scope");
  const bool never = scope == "3";
  const bool descendants = scope == "1";
  const bool open = scope.empty() || scope == "0";
  check.state = open || (!never && has_capability(root, CAP_SYS_PTRACE)) ? CheckState::fine
                                                                         : CheckState::limited;
  check.detail =
      scope.empty() ? "not restricted beyond the user (no Yama)" : "ptrace_scope is " + scope;
  if (check.state != CheckState::limited) return check;
  if (descendants) {
    check.detail += ": only programs that fathom has started may be looked into";
    check.lost =
        "Python and native stacks of programs that fathom has not started (fathom dump, fathom "
        "sample, fathom attach); fathom run has them";
    check.remedy =
        "sudo, in a container the capability SYS_PTRACE, or an administrator sets "
        "kernel.yama.ptrace_scope=0";
    return check;
  }
  check.lost =
      "Python and native stacks (fathom dump, fathom sample, fathom run --with samples), I/O and "
      "rank of processes that fathom has not started (fathom attach)";
  check.remedy = never ? "3 holds until the next start of the machine: an administrator removes "
                         "it from /etc/sysctl.d and starts it anew"
                       : "an administrator sets kernel.yama.ptrace_scope=1 (of programs that "
                         "fathom starts) or 0, or gives CAP_SYS_PTRACE";
  return check;
}

}  // namespace

std::vector<Check> permission_checks(const std::string& root) {
  const std::string status = read_small(root + "/proc/self/status").value_or("");
  return {user_check(status), seccomp_check(status), perf_check(root), ptrace_check(root)};
}

}  // namespace fathom::capture

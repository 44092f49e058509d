// Checks the limits of the container and the machine.
#include <cstdlib>

#include <sys/statvfs.h>
#include <unistd.h>

#include "base/quantity_text.h"
#include "capture/doctor/checks.h"
#include "capture/system/host.h"

namespace fathom::capture {
namespace {

/// What Docker gives by default; batches of a loader with workers pass through it.
constexpr std::int64_t kSmallSharedMemory = std::int64_t{128} << 20;

Check container_check(const Host& host, const Cgroup& group) {
  Check check{.section = "Limits", .what = "container"};
  check.detail = host.container.empty() ? "no sign of one" : host.container;
  if (group.version > 0)
    check.detail += "; control groups of version " + std::to_string(group.version);
  return check;
}

Check memory_check(const Host& host, const Cgroup& group) {
  Check check{.section = "Limits", .what = "memory"};
  check.detail = bytes_text(host.memory) + " in the machine";
  if (group.memory_limit && *group.memory_limit < host.memory)
    check.detail += ", of which the control group allows " + bytes_text(*group.memory_limit);
  return check;
}

Check processor_check(const Host& host, const Cgroup& group) {
  Check check{.section = "Limits", .what = "processors"};
  check.detail = std::to_string(host.cores_allowed) + " of " + std::to_string(host.cores) +
                 " cores may be used";
  if (group.cpus) check.detail += ", for " + real_text(*group.cpus) + " cores' worth of time";
  if (!host.governor.empty()) check.detail += "; governor " + host.governor;
  if (host.governor == "powersave" || host.governor == "conservative") {
    check.state = CheckState::limited;
    check.lost = "steady CPU times: clocks follow the load";
    check.remedy =
        "an administrator sets the governor to performance (cpupower frequency-set -g "
        "performance)";
  }
  return check;
}

Check shared_memory_check(const std::string& root) {
  Check check{.section = "Limits", .what = "shared memory"};
  struct statvfs facts {};
  if (statvfs((root + "/dev/shm").c_str(), &facts) != 0) {
    check.state = CheckState::missing;
    check.detail = "/dev/shm is not there";
  } else {
    const auto size = static_cast<std::int64_t>(facts.f_blocks * facts.f_frsize);
    const auto free = static_cast<std::int64_t>(facts.f_bavail * facts.f_frsize);
    check.detail = "/dev/shm has " + bytes_text(size) + ", " + bytes_text(free) + " of it free";
    check.state = size < kSmallSharedMemory ? CheckState::limited : CheckState::fine;
  }
  if (check.state != CheckState::fine) {
    check.lost =
        "nothing of the recording, but loaders with workers pass their batches through it "
        "and fail when it is full";
    check.remedy = "docker run --shm-size 8g, or --ipc host";
  }
  return check;
}

Check folder_check() {
  Check check{.section = "Limits", .what = "session folder"};
  const bool writable = access("fathom-runs", W_OK | X_OK) == 0 ||
                        (access("fathom-runs", F_OK) != 0 && access(".", W_OK | X_OK) == 0);
  check.state = writable ? CheckState::fine : CheckState::limited;
  check.detail = writable ? "fathom-runs in this folder" : "this folder cannot be written to";
  if (!writable) {
    check.lost = "nothing: recordings go to the folder for temporary files";
    check.remedy = "name a folder with fathom run -o";
  }
  return check;
}

}  // namespace

std::vector<Check> limit_checks(const std::string& root) {
  const Host host = read_host(root);
  const Cgroup group = read_cgroup(root);
  std::vector<Check> checks = {container_check(host, group), memory_check(host, group),
                               processor_check(host, group)};
  if (group.pids_limit) {
    checks.push_back(
        {.section = "Limits",
         .what = "processes",
         .detail = "at most " + count_text(*group.pids_limit) + " processes and threads"});
  }
  checks.push_back(shared_memory_check(root));
  checks.push_back(folder_check());
  return checks;
}

}  // namespace fathom::capture

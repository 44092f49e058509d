// Reads facts about the machine from /proc and /sys.
#include "capture/system/host.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/system/files.h"

namespace fathom::capture {
namespace {

std::optional<std::int64_t> number_in(const std::string& path) {
  const std::string text = read_line(path);
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr == text.data()) return std::nullopt;
  return number;
}

/// The smaller one; limits near 2^63 are how version 1 says "none".
void tighten(std::optional<std::int64_t>& limit, std::optional<std::int64_t> other) {
  if (!other || *other <= 0 || *other > std::int64_t{1} << 60) return;
  if (!limit || *other < *limit) limit = other;
}

void tighten_cpus(std::optional<double>& limit, double quota, double period) {
  if (quota <= 0 || period <= 0) return;
  if (!limit || quota / period < *limit) limit = quota / period;
}

/// "a/b/c", "a/b", "a", "".
template <typename Visit>
void for_each_level(std::string path, const Visit& visit) {
  while (true) {
    visit(path);
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

/// The path of a controller in /proc/self/cgroup ("4:memory:/a/b"); "" names version 2's line.
std::optional<std::string> path_of(const std::string& groups, std::string_view controller) {
  std::string_view rest = groups;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    const bool found =
        controller.empty()
            ? names.empty()
            : ("," + std::string(names) + ",").find("," + std::string(controller) + ",") !=
                  std::string::npos;
    if (!found) continue;
    const std::string_view path = line.substr(second + 1);
    return std::string(path == "/" ? "" : path);
  }
  return std::nullopt;
}

void read_v2(const std::string& mount, const std::string& path, Cgroup& group) {
  for_each_level(path, [&](const std::string& level) {
    const std::string folder = mount + level;
    tighten(group.memory_limit, number_in(folder + "/memory.max"));
    tighten(group.pids_limit, number_in(folder + "/pids.max"));
    const std::string cpu = read_line(folder + "/cpu.max");
    if (!cpu.empty() && !cpu.starts_with("max")) {
      char* rest = nullptr;
      const double quota = std::strtod(cpu.c_str(), &rest);
      tighten_cpus(group.cpus, quota, std::strtod(rest, nullptr));
    }
  });
  group.memory_used = number_in(mount + path + "/memory.current");
  const std::string events = read_small(mount + path + "/memory.events").value_or("");
  const std::size_t at = events.find("\noom_kill ");
  if (at != std::string::npos)
    group.oom_kills = std::strtoll(events.c_str() + at + 10, nullptr, 10);
}

void read_v1(const std::string& mount, const std::string& groups, Cgroup& group) {
  if (const auto path = path_of(groups, "memory")) {
    for_each_level(*path, [&](const std::string& level) {
      tighten(group.memory_limit, number_in(mount + "/memory" + level + "/memory.limit_in_bytes"));
    });
    group.memory_used = number_in(mount + "/memory" + *path + "/memory.usage_in_bytes");
    const std::string control =
        "\n" + read_small(mount + "/memory" + *path + "/memory.oom_control").value_or("");
    const std::size_t at = control.find("\noom_kill ");
    if (at != std::string::npos)
      group.oom_kills = std::strtoll(control.c_str() + at + 10, nullptr, 10);
  }
  if (const auto path = path_of(groups, "cpu")) {
    for_each_level(*path, [&](const std::string& level) {
      const auto quota = number_in(mount + "/cpu" + level + "/cpu.cfs_quota_us");
      const auto period = number_in(mount + "/cpu" + level + "/cpu.cfs_period_us");
      if (quota && period)
        tighten_cpus(group.cpus, static_cast<double>(*quota), static_cast<double>(*period));
    });
  }
}

std::string cpu_name(const std::string& root) {
  const std::string info = read_small(root + "/proc/cpuinfo").value_or("");
  for (const std::string_view key : {"model name", "Model", "cpu model", "Hardware"}) {
    std::string name = field_of(info, key);
    if (!name.empty()) return name;
  }
  return {};
}

std::string container_kind(const std::string& root) {
  if (std::getenv("KUBERNETES_SERVICE_HOST") != nullptr) return "kubernetes";
  if (access((root + "/.dockerenv").c_str(), F_OK) == 0) return "docker";
  if (access((root + "/run/.containerenv").c_str(), F_OK) == 0) return "podman";
  if (std::getenv("APPTAINER_CONTAINER") != nullptr) return "apptainer";
  if (std::getenv("SINGULARITY_CONTAINER") != nullptr) return "singularity";
  return {};
}

std::int64_t allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

}  // namespace

Cgroup read_cgroup(const std::string& root) {
  Cgroup group;
  const std::string groups = read_small(root + "/proc/self/cgroup").value_or("");
  const std::string mount = root + "/sys/fs/cgroup";
  const bool unified = access((mount + "/cgroup.controllers").c_str(), F_OK) == 0;
  if (const auto path = path_of(groups, ""); path && unified) {
    group.version = 2;
    group.path = path->empty() ? "/" : *path;
    read_v2(mount, *path, group);
  } else if (const auto old = path_of(groups, "memory")) {
    group.version = 1;
    group.path = old->empty() ? "/" : *old;
    read_v1(mount, groups, group);
  }
  return group;
}

Host read_host(const std::string& root) {
  Host host;
  utsname names{};
  if (uname(&names) == 0) {
    host.name = static_cast<const char*>(names.nodename);
    host.kernel = static_cast<const char*>(names.release);
  }
  host.cpu = cpu_name(root);
  host.cores = sysconf(_SC_NPROCESSORS_ONLN);
  host.cores_allowed = allowed_cores();
  const std::string memory = read_small(root + "/proc/meminfo").value_or("");
  host.memory = std::strtoll(field_of(memory, "MemTotal").c_str(), nullptr, 10) * 1024;
  host.governor = read_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  host.container = container_kind(root);
  return host;
}

std::optional<std::array<double, 3>> read_load(const std::string& root) {
  const std::optional<std::string> text = read_small(root + "/proc/loadavg");
  if (!text) return std::nullopt;
  std::array<double, 3> load{};
  const char* at = text->c_str();
  for (double& value : load) {
    char* rest = nullptr;
    value = std::strtod(at, &rest);
    if (rest == at) return std::nullopt;
    at = rest;
  }
  return load;
}

}  // namespace fathom::capture

// Parses /proc/PID/stat and its neighbours.
#include "capture/system/proc.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include <dirent.h>
#include <unistd.h>

#include "capture/system/files.h"

namespace fathom::capture {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t ns_of(const timespec& time) { return time.tv_sec * kNsPerSecond + time.tv_nsec; }

/// What the clock of /proc (since the start of the machine, also while it slept) is ahead of ours.
std::int64_t boot_ahead() {
  timespec boot{};
  timespec monotonic{};
  clock_gettime(CLOCK_BOOTTIME, &boot);
  clock_gettime(CLOCK_MONOTONIC, &monotonic);
  return ns_of(boot) - ns_of(monotonic);
}

std::int64_t ticks_to_ns(std::int64_t ticks) {
  static const std::int64_t per_second = std::max<long>(1, sysconf(_SC_CLK_TCK));
  return ticks * (kNsPerSecond / per_second);
}

std::string path_of(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

/// Texts that end with a zero byte.
std::vector<std::string> zero_ended(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

std::optional<ProcStat> parse_stat(const std::string& text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');  // The name may hold brackets of its own.
  if (open == std::string::npos || close == std::string::npos || close + 2 >= text.size())
    return std::nullopt;
  ProcStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  stat.state = text[close + 2];
  // The field after the state is number 4 of the manual.
  std::array<std::int64_t, 53> field{};
  const char* at = text.c_str() + close + 3;
  for (std::size_t number = 4; number < field.size(); ++number) {
    char* rest = nullptr;
    field[number] = std::strtoll(at, &rest, 10);
    if (rest == at) break;
    at = rest;
  }
  stat.parent = static_cast<pid_t>(field[4]);
  stat.user = ticks_to_ns(field[14] + field[16]);
  stat.system = ticks_to_ns(field[15] + field[17]);
  stat.started = ticks_to_ns(field[22]) - boot_ahead();
  stat.status = static_cast<int>(field[52]);
  return stat;
}

std::optional<ProcStat> read_stat(pid_t pid) {
  const std::optional<std::string> text = read_small(path_of(pid, "stat"));
  return text ? parse_stat(*text) : std::nullopt;
}

std::int64_t read_peak(pid_t pid) {
  const std::string field = field_of(read_small(path_of(pid, "status")).value_or(""), "VmHWM");
  return field.empty() ? -1 : std::strtoll(field.c_str(), nullptr, 10) * 1024;
}

ProcIo read_io(pid_t pid) {
  const std::string text = read_small(path_of(pid, "io")).value_or("");
  const auto number = [&](std::string_view key) {
    const std::string field = field_of(text, key);
    return field.empty() ? std::int64_t{-1} : std::strtoll(field.c_str(), nullptr, 10);
  };
  return {.read = number("read_bytes"), .written = number("write_bytes")};
}

std::vector<std::string> read_command(pid_t pid) {
  return zero_ended(read_small(path_of(pid, "cmdline")).value_or(""));
}

std::optional<std::string> read_variable(pid_t pid, const std::string& name) {
  const std::string start = name + "=";
  for (const std::string& variable : zero_ended(read_small(path_of(pid, "environ")).value_or(""))) {
    if (variable.starts_with(start)) return variable.substr(start.size());
  }
  return std::nullopt;
}

std::int64_t newest_task() {
  const std::string load = read_line("/proc/loadavg");
  const std::size_t blank = load.rfind(' ');
  if (blank == std::string::npos) return -1;
  return std::strtoll(load.c_str() + blank, nullptr, 10);
}

std::vector<pid_t> pids_in(const std::string& folder) {
  std::vector<pid_t> pids;
  DIR* const open = opendir(folder.c_str());
  if (open == nullptr) return pids;
  while (const dirent* entry = readdir(open)) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size()) pids.push_back(pid);
  }
  closedir(open);
  std::ranges::sort(pids);
  return pids;
}

std::vector<pid_t> all_pids() { return pids_in("/proc"); }

}  // namespace fathom::capture

// Parses the files of control groups, and finds the tightest limit from our own group upwards.
#include "base/cgroup.h"

#include <algorithm>
#include <cmath>

#include "base/text_fields.h"

namespace fathom {
namespace {

/// Above this, version 1 means "no limit" (it says the largest number of whole pages).
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
constexpr double kMicro = 1e-6;
constexpr double kNano = 1e-9;

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(by), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// mountinfo writes blanks and the like as "\040".
std::string unescaped(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool names(const std::vector<std::string>& controllers, std::string_view controller) {
  return std::ranges::find(controllers, controller) != controllers.end();
}

/// The group's path below what is mounted; unset where the mount shows another part.
std::optional<std::string> below(const CgroupMount& mount, std::string_view path) {
  std::string_view root = mount.root;
  if (root == "/") root = {};
  // In a container without a namespace of its own the mount shows our group as its root; the path
  // may then name folders outside of it ("/../x" in a namespace): the mount's own folder is ours.
  if (!path.starts_with(root) || path.find("/..") != std::string_view::npos) return {};
  return std::string(path.substr(root.size()));
}

/// `folder` + `path`, and each folder around it down to `folder`, where they exist.
std::vector<std::string> ladder(const std::string& folder, std::string path,
                                std::string_view probe) {
  std::vector<std::string> folders;
  while (true) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    const std::string at = folder + path;
    if (why_unreadable(at + "/" + std::string(probe)).empty()) folders.push_back(at);
    if (path.empty()) return folders;
    path.resize(std::min(path.rfind('/'), path.size()));
  }
}

template <typename Value>
void tighten(std::optional<Value>& limit, const std::optional<Value>& other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

std::optional<double> read_cores(const std::string& folder, bool second) {
  if (second) return parse_cpu_max(read_file(folder + "/cpu.max").value_or(""));
  return parse_cpu_max(read_file(folder + "/cpu.cfs_quota_us").value_or("-1") + " " +
                       read_file(folder + "/cpu.cfs_period_us").value_or("0"));
}

}  // namespace

std::vector<CgroupEntry> parse_cgroup(std::string_view text) {
  std::vector<CgroupEntry> entries;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    entries.push_back({.controllers = split(line.substr(first + 1, second - first - 1), ','),
                       .path = std::string(line.substr(second + 1))});
  }
  return entries;
}

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view text) {
  std::vector<CgroupMount> mounts;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view kind = line.substr(dash + 3);
    line = line.substr(0, dash);
    for (int skipped = 0; skipped < 3; ++skipped) take_word(line);
    CgroupMount mount;
    mount.root = unescaped(take_word(line));
    mount.folder = unescaped(take_word(line));
    const std::string_view type = take_word(kind);
    if ((type != "cgroup" && type != "cgroup2") || mount.folder.empty()) continue;
    mount.second = type == "cgroup2";
    take_word(kind);  // the source
    if (!mount.second) mount.controllers = split(kind, ',');
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string words(text);
  std::ranges::replace(words, '\n', ' ');
  std::string_view rest = words;
  const auto quota = take_integer(rest);
  const auto period = take_integer(rest);
  if (!quota || !period || *quota <= 0 || *period <= 0) return {};
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<CpuThrottling> parse_cpu_stat(std::string_view text) {
  const auto periods = keyed_integer(text, "nr_periods");
  const auto throttled = keyed_integer(text, "nr_throttled");
  if (!periods || !throttled) return {};
  CpuThrottling stat{.periods = *periods, .throttled_periods = *throttled, .throttled_seconds = 0};
  if (const auto micro = keyed_integer(text, "throttled_usec")) {
    stat.throttled_seconds = kMicro * static_cast<double>(*micro);
  } else if (const auto nano = keyed_integer(text, "throttled_time")) {
    stat.throttled_seconds = kNano * static_cast<double>(*nano);
  }
  return stat;
}

std::optional<std::int64_t> parse_limit(std::string_view text) {
  const auto number = whole_integer(text);
  if (!number || *number < 0 || *number >= kNoLimit) return {};
  return number;
}

CgroupFolders find_cgroup(const Roots& roots, std::string_view pid, std::string_view controller) {
  const std::string process = roots.proc + "/" + std::string(pid);
  const auto entries = parse_cgroup(read_file(process + "/cgroup").value_or(""));
  const auto mounts = parse_cgroup_mounts(read_file(roots.proc + "/self/mountinfo").value_or(""));
  // Where version 1 has the controller, version 2 has not: ask it first.
  for (const bool second : {false, true}) {
    const std::string probe = second                   ? "cgroup.procs"
                              : controller == "memory" ? "memory.usage_in_bytes"
                                                       : "cpu.cfs_quota_us";
    for (const CgroupMount& mount : mounts) {
      if (mount.second != second || (!second && !names(mount.controllers, controller))) continue;
      for (const CgroupEntry& entry : entries) {
        if (second ? !entry.controllers.empty() : !names(entry.controllers, controller)) continue;
        CgroupFolders found{.second = second, .folders = {}};
        found.folders = ladder(mount.folder, below(mount, entry.path).value_or(""), probe);
        if (!found.folders.empty()) return found;
      }
    }
  }
  return {};
}

CgroupLimits read_cgroup_limits(const CgroupFolders& memory, const CgroupFolders& cpu) {
  CgroupLimits limits;
  for (const std::string& folder : memory.folders) {
    const std::string file = memory.second ? "/memory.max" : "/memory.limit_in_bytes";
    tighten(limits.memory_bytes, parse_limit(read_file(folder + file).value_or("")));
  }
  for (const std::string& folder : cpu.folders) {
    tighten(limits.cores, read_cores(folder, cpu.second));
  }
  return limits;
}

}  // namespace fathom

// The control group that this process runs in: where its files are, and the limits that hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/proc_file.h"

namespace fathom {

/// A line of /proc/PID/cgroup: "3:cpu,cpuacct:/docker/1".
struct CgroupEntry {
  std::vector<std::string> controllers;  ///< Empty: version 2.
  std::string path;
};
std::vector<CgroupEntry> parse_cgroup(std::string_view text);

/// Where a hierarchy is mounted: a line of /proc/PID/mountinfo.
struct CgroupMount {
  bool second = false;                   ///< Version 2.
  std::vector<std::string> controllers;  ///< Of version 1.
  std::string root;                      ///< The part of the hierarchy that is seen there.
  std::string folder;
};
std::vector<CgroupMount> parse_cgroup_mounts(std::string_view text);

/// "max 100000" and "50000 100000" of cpu.max: processors. Unset: no limit, or not understood.
std::optional<double> parse_cpu_max(std::string_view text);

/// cpu.stat, of either version.
struct CpuThrottling {
  std::int64_t periods = 0;
  std::int64_t throttled_periods = 0;
  double throttled_seconds = 0;
};
std::optional<CpuThrottling> parse_cpu_stat(std::string_view text);

/// A number of bytes; "max", and the huge numbers of version 1 that mean it, are unset.
std::optional<std::int64_t> parse_limit(std::string_view text);

/// Folders of one controller, from our own group to the topmost that we see: a limit of any holds.
struct CgroupFolders {
  bool second = false;
  std::vector<std::string> folders;  ///< The first is our own.
};

/// The groups of process `pid` ("self" works) for that controller: "memory", "cpu".
CgroupFolders find_cgroup(const Roots& roots, std::string_view pid, std::string_view controller);

/// The tightest limits that hold for a process. Unset: none.
struct CgroupLimits {
  std::optional<std::int64_t> memory_bytes;
  std::optional<double> cores;
};
CgroupLimits read_cgroup_limits(const CgroupFolders& memory, const CgroupFolders& cpu);

}  // namespace fathom

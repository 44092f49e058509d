// The machine, as far as it bears on what is measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace fathom::capture {

/// Limits of the control group that we are in, and of those around it: the tightest counts.
struct Cgroup {
  int version = 0;  ///< 0: none was found.
  std::string path;
  std::optional<std::int64_t> memory_limit;  ///< Bytes.
  std::optional<std::int64_t> memory_used;   ///< Bytes.
  std::optional<double> cpus;                ///< CPU time per time.
  std::optional<std::int64_t> pids_limit;
  std::optional<std::int64_t> oom_kills;  ///< Processes that the kernel killed so far.
};

struct Host {
  std::string name;
  std::string kernel;
  std::string cpu;
  std::int64_t cores = 0;
  std::int64_t cores_allowed = 0;  ///< What this process may run on.
  std::int64_t memory = 0;         ///< Bytes.
  std::string governor;            ///< Of the first core; empty where the kernel has none.
  std::string container;           ///< "docker", "kubernetes", … where evidence is; else empty.
};

/// `root` is put in front of /proc and /sys.
Cgroup read_cgroup(const std::string& root = "");
Host read_host(const std::string& root = "");
/// Load of the last 1, 5 and 15 minutes.
std::optional<std::array<double, 3>> read_load(const std::string& root = "");

}  // namespace fathom::capture

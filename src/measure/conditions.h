// The machine while something is measured, as far as it bears on times.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/system/host.h"

namespace fathom::measure {

/// A GPU before anything is measured.
struct GpuCondition {
  std::int64_t gpu = 0;  ///< As NVML numbers it.
  std::string name;
  std::optional<double> power_limit_w;
  std::optional<double> default_power_limit_w;
  std::optional<std::int64_t> programs;            ///< That compute on it; unset: not known.
  std::optional<std::int64_t> memory_of_programs;  ///< Bytes.
};

struct Conditions {
  capture::Host host;
  capture::Cgroup cgroup;
  std::optional<std::array<double, 3>> load_at_start;  ///< Of 1, 5 and 15 minutes.
  std::optional<std::array<double, 3>> load_at_end;
  /// How often the quota of our control group held us and the measured back, meanwhile.
  std::optional<std::int64_t> throttled;
  std::optional<std::int64_t> memory_available;  ///< Bytes of the machine, at the start.
  /// For which share of the last 10 s before the start some program waited for memory, in percent.
  std::optional<double> memory_pressure;
  std::string driver;              ///< Of NVIDIA; empty without.
  std::vector<GpuCondition> gpus;  ///< Of commands: see gpu_conditions.h.
  /// Variables that bear on speed (CUDA_*, OMP_*, …), secrets left out, by name: for both sides.
  std::vector<std::pair<std::string, std::string>> environment;
};

/// What is there when measuring begins. `root` is put in front of /proc and /sys.
Conditions conditions_at_start(const std::string& root = "");
/// Completes it.
void end_conditions(Conditions& conditions, const std::string& root = "");

/// What makes times vary more than they must, and what would help; one sentence each.
std::vector<std::string> warnings_about(const Conditions& conditions);

}  // namespace fathom::measure

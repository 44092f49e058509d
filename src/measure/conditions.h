// The machine while something is measured, as far as it bears on times.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/system/host.h"

namespace fathom::measure {

struct Conditions {
  capture::Host host;
  capture::Cgroup cgroup;
  std::optional<std::array<double, 3>> load_at_start;  ///< Of 1, 5 and 15 minutes.
  std::optional<std::array<double, 3>> load_at_end;
  /// How often the quota of our control group held us and the measured back, meanwhile.
  std::optional<std::int64_t> throttled;
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

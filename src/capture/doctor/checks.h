// What may be recorded on this machine, by this user: lines of `fathom doctor`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::capture {

enum class CheckState : std::uint8_t {
  fine,     ///< Available.
  limited,  ///< Available in part.
  missing,  ///< Not available.
  fact,     ///< Neither good nor bad.
};
std::string_view to_string(CheckState state);

struct Check {
  std::string section;  ///< "GPU", "Python" …
  std::string what;
  CheckState state = CheckState::fact;
  std::string detail;  ///< What was found.
  std::string lost;    ///< What cannot be recorded in consequence.
  std::string remedy;  ///< What would allow it, with the least rights.
};

/// What is looked at: the machine's files and the environment.
struct Surroundings {
  std::string root = {};  ///< In front of /proc, /dev and /sys; empty for the machine's own.
  /// The value of an environment variable, or nullptr.
  const char* (*variable)(const char* name) = environment_variable;
  static const char* environment_variable(const char* name);
  /// Whether NVML finds a driver, which it is asked in this process.
  bool (*nvml_starts)() = starts_nvml;
  static bool starts_nvml();
  /// The value, or "" where it is not set.
  [[nodiscard]] std::string value(const char* name) const;
};

/// True where the process has the capability of this number (linux/capability.h).
bool has_capability(const std::string& root, unsigned number);

/// Kernel module, device files, permission for counters, CUPTI, other profilers. `root`, here and
/// below, is put in front of /proc, /dev and /sys.
std::vector<Check> gpu_checks(const Surroundings& around = {});
/// The same without CUPTI, which is looked for by loading it in a process of its own.
std::vector<Check> gpu_permission_checks(const Surroundings& around = {});
/// Of a machine with a driver: the injection into CUDA programs, MPS, MIG.
std::vector<Check> cuda_checks(const std::string& root = "");
/// Rights: user, capabilities, seccomp, perf_event, ptrace.
std::vector<Check> permission_checks(const std::string& root = "");
/// Limits: container, memory, processors, processes, shared memory, where sessions may lie.
std::vector<Check> limit_checks(const std::string& root = "");
/// Version of Python and of torch, and where that torch has its CUPTI.
std::vector<Check> python_checks();

/// Whether there is a driver of NVIDIA's: without one nothing about a GPU is a loss. A container
/// may have it without /proc/driver/nvidia, and WSL has none there.
bool has_nvidia_driver(const Surroundings& around = {});
/// What was looked for where there is none.
std::string_view without_nvidia_driver();

/// One check per thing that may hold CUPTI or the counters: variables that inject, libraries that
/// are loaded in advance, other profilers around us, processes of profilers and of DCGM.
std::vector<Check> subscriber_checks(const Surroundings& around = {});

/// What a container or CUDA's own variables keep from programs: GPUs, and parts of the driver.
/// Empty where nothing does.
std::vector<Check> gpu_access_checks(const Surroundings& around = {});

}  // namespace fathom::capture

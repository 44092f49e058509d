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

/// Kernel module, device files, permission for counters, CUPTI, other profilers. `root`, here and
/// below, is put in front of /proc, /dev and /sys.
std::vector<Check> gpu_checks(const std::string& root = "");
/// The same without CUPTI, which is looked for by loading it in a process of its own.
std::vector<Check> gpu_permission_checks(const std::string& root = "");
/// Of a machine with a driver: the injection into CUDA programs, MPS, MIG.
std::vector<Check> cuda_checks(const std::string& root = "");
/// Rights: user, capabilities, seccomp, perf_event, ptrace.
std::vector<Check> permission_checks(const std::string& root = "");
/// Limits: container, memory, processors, processes, shared memory, where sessions may lie.
std::vector<Check> limit_checks(const std::string& root = "");
/// Version of Python and of torch, and where that torch has its CUPTI.
std::vector<Check> python_checks();

/// Whether /proc/driver/nvidia is there: without a driver nothing about a GPU is a loss.
bool has_nvidia_driver(const std::string& root = "");

/// One check per thing that may hold CUPTI: variables that inject, processes of profilers.
std::vector<Check> subscriber_checks();

}  // namespace fathom::capture

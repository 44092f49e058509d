// Checks for other profilers on this machine.
#include <algorithm>
#include <array>
#include <sstream>

#include "base/folder.h"
#include "capture/doctor/checks.h"
#include "capture/system/files.h"

namespace fathom::capture {
namespace {

Check other_profiler(std::string detail, std::string lost, std::string remedy) {
  return {.section = "GPU",
          .what = "other profiler",
          .state = CheckState::limited,
          .detail = std::move(detail),
          .lost = std::move(lost),
          .remedy = std::move(remedy)};
}

constexpr const char* kActivity = "GPU activity: CUPTI serves one profiler per process, the first";

bool is_ours(const std::string& path) { return path.find("libfathom_") != std::string::npos; }

Check injection_check(const std::string& variable, const std::string& library) {
  return other_profiler(variable + "=" + library,
                        variable.starts_with("NVTX")
                            ? "NVTX ranges of native code: they go to that library"
                            : kActivity,
                        "unset " + variable + " for this run");
}

/// Libraries that CUDA or NVTX load into each program.
void add_injections(const Surroundings& around, std::vector<Check>& checks) {
  constexpr std::array<const char*, 3> kVariables = {
      "CUDA_INJECTION64_PATH", "CUDA_INJECTION32_PATH", "NVTX_INJECTION64_PATH"};
  for (const char* const name : kVariables) {
    const std::string value = around.value(name);
    if (value.empty() || is_ours(value)) continue;
    checks.push_back(injection_check(name, value));
  }
}

/// Profilers' libraries that the loader puts into each program.
void add_preloads(const Surroundings& around, std::vector<Check>& checks) {
  constexpr std::array<std::string_view, 7> kLibraries = {"libToolsInjection",
                                                          "libcuda-injection",
                                                          "libnvperf",
                                                          "libnsight",
                                                          "libTAU",
                                                          "libscorep",
                                                          "nsight-"};
  std::string value = around.value("LD_PRELOAD");
  std::ranges::replace(value, ':', ' ');
  std::istringstream files(value);
  for (std::string file; files >> file;) {
    const bool known = std::ranges::any_of(kLibraries, [&file](std::string_view each) {
      return file.find(each) != std::string::npos;
    });
    if (!known) continue;
    checks.push_back(other_profiler("LD_PRELOAD has " + file, kActivity,
                                    "take it out of LD_PRELOAD for this run"));
  }
}

/// Variables that profilers set for the programs that they start.
void add_parents(const Surroundings& around, std::vector<Check>& checks) {
  struct Mark {
    const char* variable;
    const char* profiler;
  };
  constexpr std::array<Mark, 3> kMarks = {
      {{"NSYS_PROFILING_SESSION_ID", "Nsight Systems"},
       {"QUADD_INJECTION_PROXY", "Nsight Systems"},
       {"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "Nsight Compute"}}};
  std::string said;
  for (const auto& [variable, profiler] : kMarks) {
    if (around.value(variable).empty() || said == profiler) continue;
    said = profiler;
    checks.push_back(other_profiler("we run under " + said + " (" + variable + " is set)",
                                    kActivity, "start fathom run without it"));
  }
}

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

Check dcgm_check(const std::string& detail) {
  return {.section = "GPU",
          .what = "DCGM",
          .state = CheckState::limited,
          .detail = detail,
          .lost =
              "hardware counters and metrics of the GPU that are sampled, while it reads "
              "profiling fields (DCGM_FI_PROF_*); times of kernels are recorded",
          .remedy =
              "dcgmi profile --pause for the time of the run, then --resume; or take "
              "DCGM_FI_PROF_* out of the fields of dcgm-exporter"};
}

std::string running(const std::string& name, const std::string& pid) {
  return name + " runs (process " + pid + ")";
}

/// The kernel shortens names to fifteen characters.
void add_processes(const Surroundings& around, std::vector<Check>& checks) {
  constexpr std::array<std::string_view, 5> kProfilers = {"nsys", "nsys-launcher", "ncu",
                                                          "nv-nsight-cu-cl", "nvprof"};
  constexpr std::array<std::string_view, 3> kDcgm = {"nv-hostengine", "dcgm-exporter", "dcgmi"};
  for (const std::string& pid : names_in(around.root + "/proc")) {
    if (!is_number(pid)) continue;
    const std::string name = read_line(around.root + "/proc/" + pid + "/comm");
    const std::string detail = running(name, pid);
    if (std::ranges::find(kDcgm, name) != kDcgm.end()) checks.push_back(dcgm_check(detail));
    if (std::ranges::find(kProfilers, name) == kProfilers.end()) continue;
    checks.push_back(other_profiler(detail, "GPU activity of the processes that it profiles",
                                    "let it end first"));
  }
}

/// Does anything listen on this TCP port? Lines are "0: 00000000:15B3 00000000:0000 0A …".
bool listens(const std::string& root, const std::string& port) {
  for (const char* const file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::istringstream lines(read_small(root + file).value_or(""));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string number;
      std::string local;
      std::string remote;
      std::string state;
      words >> number >> local >> remote >> state;
      if (state == "0A" && local.ends_with(":" + port)) return true;
    }
  }
  return false;
}

/// Processes of the machine are not seen from a container; with its network, their ports are.
void add_ports(const Surroundings& around, std::vector<Check>& checks) {
  const bool known = std::ranges::any_of(checks, [](const Check& c) { return c.what == "DCGM"; });
  if (known || !has_nvidia_driver(around)) return;
  if (listens(around.root, "15B3"))
    checks.push_back(dcgm_check("something listens on port 5555, as nv-hostengine does"));
  else if (listens(around.root, "24B8"))
    checks.push_back(dcgm_check("something listens on port 9400, as dcgm-exporter does"));
}

bool holds(const std::string& list, std::string_view word) {
  return list.find(word) != std::string::npos || list.find("all") != std::string::npos;
}

}  // namespace

std::vector<Check> subscriber_checks(const Surroundings& around) {
  std::vector<Check> checks;
  add_injections(around, checks);
  add_preloads(around, checks);
  add_parents(around, checks);
  add_processes(around, checks);
  add_ports(around, checks);
  return checks;
}

std::vector<Check> gpu_access_checks(const Surroundings& around) {
  std::vector<Check> checks;
  const auto add = [&checks](CheckState state, std::string detail, std::string lost,
                             std::string remedy) {
    checks.push_back({.section = "GPU",
                      .what = "access to GPUs",
                      .state = state,
                      .detail = std::move(detail),
                      .lost = std::move(lost),
                      .remedy = std::move(remedy)});
  };
  const std::string given = around.value("NVIDIA_VISIBLE_DEVICES");
  if (given == "void" || given == "none") {
    add(CheckState::missing, "NVIDIA_VISIBLE_DEVICES=" + given + ": the container has no GPU",
        "everything about GPUs", "docker run --gpus all (or --gpus device=N)");
  }
  const std::string parts = around.value("NVIDIA_DRIVER_CAPABILITIES");
  if (!parts.empty() && !holds(parts, "utility")) {
    add(CheckState::limited, "NVIDIA_DRIVER_CAPABILITIES=" + parts + ": without NVML",
        "GPU telemetry", "docker run -e NVIDIA_DRIVER_CAPABILITIES=compute,utility");
  }
  if (!parts.empty() && !holds(parts, "compute")) {
    add(CheckState::missing, "NVIDIA_DRIVER_CAPABILITIES=" + parts + ": without CUDA",
        "programs on the GPU", "docker run -e NVIDIA_DRIVER_CAPABILITIES=compute,utility");
  }
  const char* const visible = around.variable("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && (*visible == '\0' || *visible == '-')) {
    add(CheckState::limited,
        "CUDA_VISIBLE_DEVICES=" + std::string(visible) + ": programs see no GPU",
        "everything that programs would do on GPUs", "unset CUDA_VISIBLE_DEVICES");
  }
  return checks;
}

}  // namespace fathom::capture

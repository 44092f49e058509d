// Remedies by CUPTI's answers; the least rights first.
#include "capture/cuda/fallback.h"

#include <algorithm>
#include <iterator>

#include <dirent.h>

namespace fathom::cuda {
namespace {

constexpr Wanted kWanted[] = {
    Wanted{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels", true},
    Wanted{CUPTI_ACTIVITY_KIND_MEMCPY, "copies", true},
    Wanted{CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices", true},
    Wanted{CUPTI_ACTIVITY_KIND_MEMSET, "fills", true},
    Wanted{CUPTI_ACTIVITY_KIND_RUNTIME, "calls of the CUDA runtime"},
    Wanted{CUPTI_ACTIVITY_KIND_DRIVER, "calls of the CUDA driver"},
    Wanted{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronisation"},
    Wanted{CUPTI_ACTIVITY_KIND_CUDA_EVENT, "CUDA events: which stream waited for which"},
    Wanted{CUPTI_ACTIVITY_KIND_MEMORY2, "memory of devices"},
    Wanted{CUPTI_ACTIVITY_KIND_MEMORY_POOL, "memory pools"},
    Wanted{CUPTI_ACTIVITY_KIND_OVERHEAD, "the recorder's own work on the device"},
    Wanted{CUPTI_ACTIVITY_KIND_JIT, "compilation at run time"},
    Wanted{CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "ids that the program gives to calls"},
    Wanted{CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "CUDA graphs as wholes", false, GraphLevel::wholes},
#if CUPTI_API_VERSION >= 130100
    Wanted{CUPTI_ACTIVITY_KIND_HOST_LAUNCH, "host functions in streams", false, GraphLevel::any,
           130100},
    Wanted{CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE, "host functions of CUDA graphs", false,
           GraphLevel::nodes, 130100},
#endif
};

constexpr Wanted kThings[] = {
    Wanted{CUPTI_ACTIVITY_KIND_DEVICE, "properties of devices"},
    Wanted{CUPTI_ACTIVITY_KIND_CONTEXT, "contexts"},
    Wanted{CUPTI_ACTIVITY_KIND_STREAM, "streams"},
#if CUPTI_API_VERSION >= 130200
    Wanted{CUPTI_ACTIVITY_KIND_GREEN_CONTEXT, "green contexts", false, GraphLevel::any, 130200},
#endif
    Wanted{CUPTI_ACTIVITY_KIND_NAME, "names that the program gives to streams"},
};

struct Answer {
  CUptiResult result;
  std::string_view why;
  std::string_view remedy;
};
constexpr Answer kAnswers[] = {
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "the driver lets only administrators record it",
     "an administrator sets the module's option NVreg_RestrictProfilingToAdminUsers=0, or gives "
     "CAP_SYS_ADMIN (docker run --cap-add SYS_ADMIN)"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
     "the virtual GPU does not allow it to this machine",
     "the host's administrator sets pciPassthru.cfg.enable_profiling=1, or what the hypervisor has "
     "for it, for this vGPU"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "CUPTI does not record on this virtual GPU",
     "run on a GPU that is passed through"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
     "another profiler holds CUPTI in this process: torch.profiler, Nsight or a debugger",
     "let the other one end, or record with it alone"},
    {CUPTI_ERROR_NOT_INITIALIZED, "this CUPTI does not start with the driver that is installed",
     "point FATHOM_CUPTI at the libcupti of the CUDA version that nvidia-smi shows"},
    {CUPTI_ERROR_NOT_COMPATIBLE, "this CUPTI does not fit the driver",
     "point FATHOM_CUPTI at the libcupti of the CUDA version that nvidia-smi shows"},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "the GPU is in confidential computing mode",
     "switch its development mode on (nvidia-smi conf-compute), or record elsewhere"},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "CUPTI does not record it on a part of a GPU (MIG)",
     "run on a whole GPU"},
    {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "Windows does not let WSL record it",
     "NVIDIA's control panel, developer settings: allow access to counters to all users"},
    {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, "this GPU (CMP) cannot be recorded", "use another"},
    {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, "GPUs in SLI cannot be recorded", "switch SLI off"},
    {CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED, "the program uses CUPTI's old event interface",
     "leave that part of the program out for this run"},
    {CUPTI_ERROR_HARDWARE_BUSY, "another profiler uses the hardware",
     "let it end first; DCGM: dcgmi profile --pause"},
    {CUPTI_ERROR_INVALID_KIND, "this CUPTI does not know it", "a newer CUDA's libcupti"},
    {CUPTI_ERROR_NOT_SUPPORTED, "neither this CUPTI nor this device has it",
     "a newer CUDA's libcupti"},
};

/// Of CUDA, by the version of CUPTI.
int major_of(std::uint32_t version) {
  constexpr std::uint32_t kNumberedByCuda = 130000;  // before, from 18 to 28, they are of CUDA 12
  constexpr std::uint32_t kPerMajor = 10000;
  return version < kNumberedByCuda ? 12 : static_cast<int>(version / kPerMajor);
}

}  // namespace

bool Wanted::asked(bool graph_nodes, std::uint32_t version) const {
  const GraphLevel level = graph_nodes ? GraphLevel::nodes : GraphLevel::wholes;
  return version >= since && (graphs == GraphLevel::any || graphs == level);
}

std::span<const Wanted> things() { return kThings; }

std::span<const Wanted> wanted() { return kWanted; }

std::string_view to_string(FallbackLevel level) {
  switch (level) {
    case FallbackLevel::full:
      return "full activity";
    case FallbackLevel::partial:
      return "activity without what was refused";
    case FallbackLevel::events:
      return "CUDA events";
    case FallbackLevel::telemetry:
      return "telemetry of the GPU";
  }
  return "";
}

Loss loss_of(std::string_view what, CUptiResult result, std::string_view said) {
  for (const Answer& answer : kAnswers)
    if (answer.result == result)
      return {std::string(what), std::string(answer.why) + " (" + std::string(said) + ")",
              std::string(answer.remedy)};
  return {std::string(what), "CUPTI refused: " + std::string(said),
          "fathom doctor shows what this machine allows"};
}

std::optional<Loss> loss_of_length(std::uint32_t version, std::int64_t recorded_ns) {
  constexpr std::uint32_t kMended = 130401;
  constexpr std::int64_t kLong = 600'000'000'000;
  if (version >= kMended || recorded_ns < kLong) return {};
  return Loss{
      "how fast the program would have been to its end, and names of kernels whose module "
      "was loaded again",
      "before CUDA 13.4 update 1 what CUPTI costs grows with the length of a recording, and "
      "modules that are loaded again keep old names",
      "record a part (--duration, --steps), or with CUPTI of CUDA 13.4 update 1 or later"};
}

std::optional<Loss> loss_of_major(std::uint32_t version, int driver_major) {
  const int major = major_of(version);
  if (driver_major == 0 || major == driver_major) return {};
  const std::string own = std::to_string(major);
  const std::string drivers = std::to_string(driver_major);
  const std::string newer = std::to_string(std::max(major, driver_major));
  return Loss{"what CUDA " + newer + " has beyond the other: calls, kinds of records and devices",
              "FATHOM_CUPTI names a libcupti of CUDA " + own + ", and the driver runs CUDA " +
                  drivers + " at most",
              remedy_of_named(driver_major)};
}

void explain_newer(std::uint32_t version, int driver_major, Loss& loss) {
  const int major = major_of(version);
  if (driver_major == 0 || major <= driver_major) return;
  const std::string drivers = std::to_string(driver_major);
  loss.why = "this CUPTI is of CUDA " + std::to_string(major) + ", and the driver runs CUDA " +
             drivers + " at most (" + loss.why + ")";
  loss.remedy = "install CUPTI of CUDA " + drivers + " (pip install nvidia-cuda-cupti-cu" +
                drivers + "), or a newer driver";
}

bool shows_gpu(const char* devices) {
  constexpr std::string_view kNumbered = "nvidia";
  constexpr std::string_view kOthers[] = {"dxg", "nvgpu", "nvhost-gpu"};
  DIR* const folder = opendir(devices);
  if (folder == nullptr) return true;  // not known
  bool shown = false;
  while (const dirent* const entry = shown ? nullptr : readdir(folder)) {
    const std::string_view name = entry->d_name;
    shown = std::ranges::find(kOthers, name) != std::end(kOthers) ||
            (name.starts_with(kNumbered) && name.size() > kNumbered.size() &&
             name[kNumbered.size()] >= '0' && name[kNumbered.size()] <= '9');
  }
  closedir(folder);
  return shown;
}

void explain_absent(Loss& loss) {
  loss.why = "no GPU is shown to this process (/dev has no nvidia0), and " + loss.why;
  loss.remedy = "run where a GPU is (containers: --gpus all); where one is, " + loss.remedy;
}

std::string remedy_of_named(int driver_major) {
  std::string remedy = "leave FATHOM_CUPTI unset, so that Fathom looks for one that fits";
  if (driver_major != 0) remedy += ", or name libcupti.so." + std::to_string(driver_major);
  return remedy;
}

FallbackLevel level_of(std::span<const CUptiResult> answers) {
  bool all = true;
  bool device = false;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    all = all && answers[i] == CUPTI_SUCCESS;
    device = device || (kWanted[i].device && answers[i] == CUPTI_SUCCESS);
  }
  return all ? FallbackLevel::full : device ? FallbackLevel::partial : FallbackLevel::events;
}

}  // namespace fathom::cuda

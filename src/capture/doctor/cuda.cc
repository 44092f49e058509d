// Checks whether CUDA can be recorded from inside a program.
// Whether this binary carries libfathom_cuda.so, and what shares the GPU.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include "base/folder.h"
#include "capture/doctor/checks.h"
#include "capture/system/carried.h"
#include "capture/system/files.h"

namespace fathom::capture {
namespace {

namespace fs = std::filesystem;

Check injection_check() {
  Check check{.section = "GPU", .what = "CUDA from inside the program", .state = CheckState::fine};
  const bool carried = std::ranges::any_of(carried_libraries(), [](const CarriedLibrary& library) {
    return library.file == "libfathom_cuda.so";
  });
  if (carried) {
    check.detail =
        "this fathom carries libfathom_cuda.so, which programs load at their first use of CUDA";
    return check;
  }
  check.state = CheckState::missing;
  check.detail = "this fathom was built without libfathom_cuda.so";
  check.lost = "kernels and copies of programs without PyTorch";
  check.remedy = "tools/setup cuda, and build again";
  return check;
}

Check mps_check() {
  const char* const pipe = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  const std::string folder = pipe == nullptr ? "/tmp/nvidia-mps" : pipe;
  Check check{.section = "GPU", .what = "MPS"};
  std::error_code ignored;
  const bool runs = fs::exists(folder + "/control", ignored);
  check.detail = runs ? "a control daemon of MPS is in " + folder +
                            ": the GPU is shared, and other "
                            "clients' work is not seen"
                      : "not in use";
  return check;
}

/// Parts of GPUs that the driver hands out.
Check mig_check(const std::string& root) {
  Check check{.section = "GPU", .what = "MIG", .detail = "not in use"};
  std::size_t parts = 0;
  const std::string gpus = root + "/proc/driver/nvidia/capabilities";
  if (access((root + "/proc/driver/nvidia").c_str(), F_OK) != 0) {
    check.detail = "not known: /proc/driver/nvidia is not shown to this container";
    return check;
  }
  for (const std::string& gpu : names_in(gpus)) {
    if (!gpu.starts_with("gpu")) continue;
    for (const std::string& part :
         names_in(std::string(gpus).append("/").append(gpu).append("/mig")))
      parts += part.starts_with("gi") ? 1U : 0U;
  }
  if (parts > 0)
    check.detail = std::to_string(parts) + " parts of GPUs; a program sees the one it is given";
  return check;
}

}  // namespace

std::vector<Check> cuda_checks(const std::string& root) {
  return {injection_check(), mps_check(), mig_check(root)};
}

}  // namespace fathom::capture

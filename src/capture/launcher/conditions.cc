// Collects the environment variables of the allow-list and the git revision.
#include "capture/launcher/conditions.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <unistd.h>

#include "capture/launcher/redact.h"
#include "capture/system/briefly.h"
#include "capture/system/files.h"

namespace fathom::capture {
namespace {

constexpr std::array<std::string_view, 36> kPrefixes = {
    "CUDA_",      "CUBLAS",        "CUDNN",       "NCCL_",       "TORCH",      "PYTORCH_",
    "OMP_",       "GOMP_",         "KMP_",        "MKL_",        "OPENBLAS_",  "DNNL_",
    "ONEDNN_",    "NUMEXPR_",      "PYTHON",      "SLURM_",      "CONDA_",     "HF_",
    "TRITON_",    "TRANSFORMERS_", "TOKENIZERS_", "ACCELERATE_", "DEEPSPEED_", "NVIDIA_",
    "HIP_",       "ROCR_",         "RCCL_",       "HSA_",        "GLOO_",      "UCX_",
    "OMPI_COMM_", "PMI_",          "KINETO_",     "XLA_",        "MALLOC_",    "NUMBA_"};
constexpr std::array<std::string_view, 16> kNames = {"RANK",
                                                     "WORLD_SIZE",
                                                     "LOCAL_RANK",
                                                     "LOCAL_WORLD_SIZE",
                                                     "NODE_RANK",
                                                     "GROUP_RANK",
                                                     "MASTER_ADDR",
                                                     "MASTER_PORT",
                                                     "VIRTUAL_ENV",
                                                     "LD_PRELOAD",
                                                     "LD_LIBRARY_PATH",
                                                     "GPU_DEVICE_ORDINAL",
                                                     "USE_FLASH_ATTENTION",
                                                     "SEED",
                                                     "GLIBC_TUNABLES",
                                                     "TMPDIR"};
constexpr Duration kGitLimit = duration_ns(700'000'000);

}  // namespace

bool environment_matters(const std::string& name) {
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<std::pair<std::string, std::string>> environment_that_matters() {
  std::vector<std::pair<std::string, std::string>> chosen;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    std::string name = text.substr(0, equals);
    if (!environment_matters(name)) continue;
    std::string value = redact_variable(name, std::string_view(text).substr(equals + 1));
    chosen.emplace_back(std::move(name), std::move(value));
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::optional<Git> read_git(const std::string& folder) {
  // Reading must not touch the repository, nor ask anybody for anything.
  const std::vector<std::string> quiet = {"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0"};
  const auto git = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {"git", "-C", folder};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_briefly(command, kGitLimit, quiet);
  };
  const Result<Briefly> head = git({"rev-parse", "--verify", "HEAD"});
  if (!head || head->code != 0) return std::nullopt;
  Git found{.revision = std::string(trimmed(head->output)), .dirty = std::nullopt};
  const Result<Briefly> status = git({"status", "--porcelain", "--untracked-files=no"});
  if (status && status->code == 0) found.dirty = !trimmed(status->output).empty();
  return found;
}

}  // namespace fathom::capture

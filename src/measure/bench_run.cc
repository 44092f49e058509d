// Recognises how programs say that memory did not suffice.
#include "measure/bench_run.h"

#include <algorithm>
#include <csignal>
#include <string_view>

#include <sys/wait.h>

namespace fathom::measure {
namespace {

constexpr std::string_view kWords[] = {
    "out of memory",           // CUDA, cuDNN, PyTorch; "torch.OutOfMemoryError: CUDA out of memory"
    "OutOfMemoryError",        // PyTorch, Java
    "MemoryError",             // Python, and NumPy's _ArrayMemoryError
    "std::bad_alloc",          // C++
    "can't allocate memory",   // PyTorch's allocator of the host
    "not enough memory",       // PyTorch: "you tried to allocate …"
    "Cannot allocate memory",  // ENOMEM
    "CUBLAS_STATUS_ALLOC_FAILED",
    "NCCL_ERROR_OUT_OF_MEMORY",
};

}  // namespace

bool out_of_memory(const ChildRun& run, bool killed) {
  if (run.ended != Ended::by_itself || run.status == 0) return false;
  const bool by_kernel = WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGKILL;
  if (by_kernel && killed) return true;
  return std::ranges::any_of(kWords, [&run](std::string_view words) {
    return run.last_words.find(words) != std::string::npos;
  });
}

}  // namespace fathom::measure

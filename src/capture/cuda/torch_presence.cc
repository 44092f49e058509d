// Looks for PyTorch among the loaded libraries, and for the hook's mark in the environment.
#include "capture/cuda/torch_presence.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace fathom::cuda {
namespace {

/// Whether exec() brought it along: then it lies where the kernel put the environment, between the
/// random bytes and the program's name. What the process has set since lies elsewhere.
bool is_inherited(const char* value) {
  const auto at = reinterpret_cast<std::uintptr_t>(value);
  return at > getauxval(AT_RANDOM) && at < getauxval(AT_EXECFN);
}

}  // namespace

bool has_torch() {
  const auto look = [](dl_phdr_info* info, std::size_t /*size*/, void* /*none*/) {
    const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    return name.ends_with("/libtorch_cpu.so") || name.ends_with("/libtorch_cuda.so") ? 1 : 0;
  };
  return dl_iterate_phdr(look, nullptr) != 0;
}

/// The hook leaves the number of its process. What starts a Python that reads no environment
/// inherits that of another; one that exec() starts has the number, but not from itself. And a
/// program of C++ with LibTorch has nobody who would start torch.profiler.
bool has_hook() {
  const char* const said = std::getenv("FATHOM_PARENT");
  const std::string own = std::to_string(getpid()) + ':';
  if (said == nullptr || !std::string_view(said).starts_with(own) || is_inherited(said))
    return false;
  int (*runs)() = nullptr;
  *reinterpret_cast<void**>(&runs) = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
  return runs != nullptr && runs() != 0;
}

}  // namespace fathom::cuda

// Finds functions of the loaded CUDA driver.
#include "capture/cuda/driver.h"

#include <dlfcn.h>

namespace fathom::cuda {

/// Looks anew each time: the driver may be loaded later than we are. It is not closed again, so
/// that it stays while its functions are known.
void* address_in_driver(const char* name) {
  void* const loaded = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return dlsym(loaded == nullptr ? RTLD_DEFAULT : loaded, name);
}

}  // namespace fathom::cuda

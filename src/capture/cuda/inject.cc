// libfathom_cuda.so: what the CUDA driver loads when CUDA_INJECTION64_PATH names this library, and
// calls at its first use.
#include <cstdlib>

#include "capture/cuda/device_time.h"
#include "capture/cuda/tracer.h"

extern "C" [[gnu::visibility("default")]] int
InitializeInjection() {  // NOLINT(readability-identifier-naming)
  const char* const session = std::getenv("FATHOM_SESSION");
  if (session != nullptr && *session != '\0') fathom::cuda::Tracer::get().start();
  // Anything else would have the driver refuse to work.
  return 1;
}

/// For the hook, before each profile of PyTorch's: 1 where CUPTI is this library's in this process,
/// 0 where it is not, -1 where the driver has not called the library yet, or has not come back.
extern "C" [[gnu::visibility("default")]] int fathom_has_cupti() {
  return fathom::cuda::Tracer::get().has_cupti();
}

/// See device_time.h.
extern "C" [[gnu::visibility("default")]] const char* fathom_device_time(
    fathom::cuda::DeviceTime* read) {
  return fathom::cuda::Tracer::get().device_time(*read);
}

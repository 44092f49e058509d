// cuCtxSynchronize() on somebody else's thread.
#include "capture/cuda/context_wait.h"

#include "capture/cuda/driver.h"

namespace fathom::cuda {

ContextFunctions context_functions() {
  ContextFunctions all;
  find_in_driver("cuCtxSynchronize", all.synchronize);
  find_in_driver("cuCtxPushCurrent_v2", all.push);
  find_in_driver("cuCtxPopCurrent_v2", all.pop);
  find_in_driver("cuThreadExchangeStreamCaptureMode", all.exchange_mode);
  find_in_driver("cuDevicePrimaryCtxGetState", all.primary_state);
  find_in_driver("cuDevicePrimaryCtxRetain", all.retain_primary);
  find_in_driver("cuDevicePrimaryCtxRelease_v2", all.release_primary);
  return all;
}

bool wait_for_context(const ContextFunctions& cuda, CUcontext context) {
  const bool can = cuda.synchronize != nullptr && cuda.exchange_mode != nullptr &&
                   cuda.push != nullptr && cuda.pop != nullptr;
  if (!can || (context != nullptr && cuda.push(context) != CUDA_SUCCESS)) return false;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  const bool relaxed = cuda.exchange_mode(&mode) == CUDA_SUCCESS;
  const bool done = relaxed && cuda.synchronize() == CUDA_SUCCESS;
  if (relaxed) cuda.exchange_mode(&mode);
  CUcontext none = nullptr;
  if (context != nullptr) cuda.pop(&none);
  return done;
}

bool wait_for_primary_context(const ContextFunctions& cuda, CUdevice device) {
  unsigned flags = 0;
  int active = 0;
  const bool known = cuda.primary_state != nullptr && cuda.retain_primary != nullptr &&
                     cuda.release_primary != nullptr &&
                     cuda.primary_state(device, &flags, &active) == CUDA_SUCCESS;
  if (!known || active == 0) return known;
  CUcontext context = nullptr;
  if (cuda.retain_primary(&context, device) != CUDA_SUCCESS) return false;
  const bool done = context != nullptr && wait_for_context(cuda, context);
  cuda.release_primary(device);
  return done;
}

}  // namespace fathom::cuda

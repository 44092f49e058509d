// Asks an event whether somebody else's context has done its work.
#include "capture/cuda/context_wait.h"

#include <algorithm>

#include <unistd.h>

#include "capture/cuda/driver.h"
#include "wire/writer.h"

namespace fathom::cuda {
namespace {

/// Each look is a call of the driver that CUPTI may record: soon at first, then more and more
/// rarely.
constexpr useconds_t kFirstPause = 50;
constexpr useconds_t kLongestPause = 4000;

/// False where the time is over before the event, or it cannot be asked.
bool wait_for_event(const ContextFunctions& cuda, CUevent event) {
  const std::int64_t until = wire::monotonic_ns() + kLongestWait;
  CUresult answer = cuda.query(event);
  for (useconds_t pause = kFirstPause;
       answer == CUDA_ERROR_NOT_READY && wire::monotonic_ns() < until;
       pause = std::min(2 * pause, kLongestPause)) {
    usleep(pause);
    answer = cuda.query(event);
  }
  return answer == CUDA_SUCCESS;
}

/// An older driver can only be asked about the streams that wait for the one without a name: all
/// but those that were made not to. What these still do then is not known.
bool wait_for_work(const ContextFunctions& cuda, CUcontext context) {
  CUevent event = nullptr;
  if (cuda.create(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return false;
  const bool all = cuda.record_context != nullptr;
  const CUresult recorded =
      all ? cuda.record_context(context, event) : cuda.record(event, CU_STREAM_LEGACY);
  const bool done = recorded == CUDA_SUCCESS && wait_for_event(cuda, event);
  cuda.destroy(event);
  return done && all;
}

bool can_wait(const ContextFunctions& cuda) {
  return cuda.current != nullptr && cuda.push != nullptr && cuda.pop != nullptr &&
         cuda.exchange_mode != nullptr && cuda.create != nullptr && cuda.destroy != nullptr &&
         cuda.record != nullptr && cuda.query != nullptr;
}

}  // namespace

ContextFunctions context_functions() {
  ContextFunctions all;
  find_in_driver("cuCtxGetCurrent", all.current);
  find_in_driver("cuCtxPushCurrent_v2", all.push);
  find_in_driver("cuCtxPopCurrent_v2", all.pop);
  find_in_driver("cuThreadExchangeStreamCaptureMode", all.exchange_mode);
  find_in_driver("cuEventCreate", all.create);
  find_in_driver("cuEventDestroy_v2", all.destroy);
  find_in_driver("cuEventRecord", all.record);
  find_in_driver("cuEventQuery", all.query);
  find_in_driver("cuCtxRecordEvent", all.record_context);
  find_in_driver("cuDevicePrimaryCtxGetState", all.primary_state);
  find_in_driver("cuDevicePrimaryCtxRetain", all.retain_primary);
  find_in_driver("cuDevicePrimaryCtxRelease_v2", all.release_primary);
  return all;
}

bool wait_for_context(const ContextFunctions& cuda, CUcontext context) {
  if (!can_wait(cuda)) return false;
  const bool others = context != nullptr;
  if (!others && (cuda.current(&context) != CUDA_SUCCESS || context == nullptr)) return false;
  if (others && cuda.push(context) != CUDA_SUCCESS) return false;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  const bool relaxed = cuda.exchange_mode(&mode) == CUDA_SUCCESS;
  const bool done = relaxed && wait_for_work(cuda, context);
  if (relaxed) cuda.exchange_mode(&mode);
  CUcontext none = nullptr;
  if (others) cuda.pop(&none);
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

// Waits for all that a context has queued, in the thread of the program that is about to end it.
#pragma once

#include <cstdint>

#include <cuda.h>

namespace fathom::cuda {

/// Functions of the driver; null where it does not have them.
struct ContextFunctions {
  decltype(&::cuCtxGetCurrent) current = nullptr;
  decltype(&::cuCtxPushCurrent) push = nullptr;
  decltype(&::cuCtxPopCurrent) pop = nullptr;
  decltype(&::cuThreadExchangeStreamCaptureMode) exchange_mode = nullptr;
  decltype(&::cuEventCreate) create = nullptr;
  decltype(&::cuEventDestroy) destroy = nullptr;
  decltype(&::cuEventRecord) record = nullptr;
  decltype(&::cuEventQuery) query = nullptr;
  CUresult(CUDAAPI* record_context)(CUcontext, CUevent) = nullptr;  ///< Of CUDA 12.5 and later.
  decltype(&::cuDevicePrimaryCtxGetState) primary_state = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) retain_primary = nullptr;
  decltype(&::cuDevicePrimaryCtxRelease) release_primary = nullptr;
};
ContextFunctions context_functions();

/// True where all is done; false too where that is not known, or not the case after half a second:
/// a kernel that never ends is no reason for the program to wait. Spoils no graph that another
/// thread captures; null is the thread's own context.
bool wait_for_context(const ContextFunctions& cuda, CUcontext context);

/// The same of the device's primary context; true too where it has none.
bool wait_for_primary_context(const ContextFunctions& cuda, CUdevice device);

/// Nothing at the end of a context or of the program is waited for longer, ns.
inline constexpr std::int64_t kLongestWait = 500'000'000;

}  // namespace fathom::cuda

// Waits for all that a context has queued, in the thread of the program that is about to end it.
#pragma once

#include <cuda.h>

namespace fathom::cuda {

/// Functions of the driver; null where it does not have them.
struct ContextFunctions {
  decltype(&::cuCtxSynchronize) synchronize = nullptr;
  decltype(&::cuCtxPushCurrent) push = nullptr;
  decltype(&::cuCtxPopCurrent) pop = nullptr;
  decltype(&::cuThreadExchangeStreamCaptureMode) exchange_mode = nullptr;
  decltype(&::cuDevicePrimaryCtxGetState) primary_state = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) retain_primary = nullptr;
  decltype(&::cuDevicePrimaryCtxRelease) release_primary = nullptr;
};
ContextFunctions context_functions();

/// True where all is done. Spoils no graph that another thread captures; null is the thread's own
/// context.
bool wait_for_context(const ContextFunctions& cuda, CUcontext context);

/// The same of the device's primary context; true too where it has none.
bool wait_for_primary_context(const ContextFunctions& cuda, CUdevice device);

}  // namespace fathom::cuda

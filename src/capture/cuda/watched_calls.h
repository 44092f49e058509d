// What the program calls of CUDA that the recorder wants to hear of while it happens, and what each
// of these calls means.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "capture/cuda/cupti.h"

namespace fathom::cuda {

/// A call by CUPTI's numbers, and what real libraries say that it is called.
struct Watched {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  std::string_view name;
};

/// In each program. None of them is made without end but launches with attributes.
std::span<const Watched> watched_calls();
/// Launches of kernels and graphs that are not among them: each of these callbacks costs a launch
/// some time.
std::span<const Watched> plain_launches();
/// Calls that programs make without end and that take no time. Kineto leaves them out, too.
std::span<const Watched> noisy_calls();

/// Kernels and graphs, whichever way the driver launches them. CUPTI writes at least one record of
/// the call, and more of what it starts.
bool launches_work(CUpti_CallbackId id);
bool launches_graph(CUpti_CallbackId id);
/// The stream that such a launch is for. Of a call for streams of threads, null is the thread's.
CUstream stream_of(CUpti_CallbackId id, const void* parameters);
/// A launch whose kernel need not wait for the one before it.
bool is_programmatic(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* parameters);

/// A program that calls the runtime's has the driver called too, or not, by version.
bool is_profiler_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool begins);

/// How a call may end a context, which takes along what CUPTI has of it.
enum class ContextEnd : std::uint8_t {
  none,
  current,   ///< The thread's: cudaDeviceReset().
  named,     ///< The one that it is called for: cuCtxDestroy().
  primary,   ///< That of the device that it is called for: cuDevicePrimaryCtxReset().
  released,  ///< It has one user less: whether it ends by that is not known.
};
ContextEnd context_end(CUpti_CallbackDomain domain, CUpti_CallbackId id);
/// Of a call that ends a named one; null: the thread's, or of another call.
CUcontext ended_context(CUpti_CallbackId id, const void* parameters);
/// Of a call that ends a primary one.
CUdevice device_of_ended(CUpti_CallbackId id, const void* parameters);

}  // namespace fathom::cuda

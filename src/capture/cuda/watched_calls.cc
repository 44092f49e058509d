// Tables of calls by CUPTI's numbers, and what their parameters say.
#include "capture/cuda/watched_calls.h"

#include <algorithm>

namespace fathom::cuda {
namespace {

constexpr Watched kWatched[] = {
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, "cuProfilerStart"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, "cuProfilerStop"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, "cuLaunchKernelEx"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
     "cuLaunchKernelEx_ptsz"},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
     "cudaLaunchKernelExC_v11060"},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060,
     "cudaLaunchKernelExC_ptsz_v11060"},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000,
     "cudaProfilerStart_v4000"},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000,
     "cudaProfilerStop_v4000"},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020,
     "cudaDeviceReset_v3020"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy, "cuCtxDestroy"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2, "cuCtxDestroy_v2"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset,
     "cuDevicePrimaryCtxReset"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2,
     "cuDevicePrimaryCtxReset_v2"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease,
     "cuDevicePrimaryCtxRelease"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2,
     "cuDevicePrimaryCtxRelease_v2"},
    {CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, "CUPTI_CBID_STATE_FATAL_ERROR"},
};

constexpr Watched kPlainLaunches[] = {
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
     "cuLaunchKernel_ptsz"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
     "cuLaunchCooperativeKernel"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
     "cuLaunchCooperativeKernel_ptsz"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "cuGraphLaunch"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, "cuGraphLaunch_ptsz"},
};

constexpr Watched kNoise[] = {
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
     "cudaGetDevice_v3020"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent, "cuCtxGetCurrent"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute,
     "cuKernelGetAttribute"},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState,
     "cuDevicePrimaryCtxGetState"},
};

bool is_programmatic(const CUlaunchConfig* config) {
  if (config == nullptr) return false;
  for (unsigned i = 0; config->attrs != nullptr && i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      return attribute.value.programmaticStreamSerializationAllowed != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) return true;
  }
  return false;
}

bool is_programmatic(const cudaLaunchConfig_t* config) {
  if (config == nullptr) return false;
  for (unsigned i = 0; config->attrs != nullptr && i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization)
      return attribute.val.programmaticStreamSerializationAllowed != 0;
    if (attribute.id == cudaLaunchAttributeProgrammaticEvent) return true;
  }
  return false;
}

bool launches_with_attributes(CUpti_CallbackId id) {
  return id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz;
}

bool is_cooperative(CUpti_CallbackId id) {
  return id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz;
}

/// Those for streams of threads have the same parameters.
CUstream named_stream(CUpti_CallbackId id, const void* parameters) {
  if (parameters == nullptr) return nullptr;
  if (launches_graph(id)) return static_cast<const cuGraphLaunch_params*>(parameters)->hStream;
  if (is_cooperative(id))
    return static_cast<const cuLaunchCooperativeKernel_params*>(parameters)->hStream;
  if (!launches_with_attributes(id))
    return static_cast<const cuLaunchKernel_params*>(parameters)->hStream;
  const CUlaunchConfig* const config =
      static_cast<const cuLaunchKernelEx_params*>(parameters)->config;
  return config == nullptr ? nullptr : config->hStream;
}

}  // namespace

std::span<const Watched> watched_calls() { return kWatched; }

std::span<const Watched> plain_launches() { return kPlainLaunches; }

std::span<const Watched> noisy_calls() { return kNoise; }

bool launches_graph(CUpti_CallbackId id) {
  return id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch ||
         id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
}

bool launches_work(CUpti_CallbackId id) {
  return launches_with_attributes(id) ||
         std::ranges::any_of(kPlainLaunches,
                             [id](const Watched& launch) { return launch.id == id; });
}

CUstream stream_of(CUpti_CallbackId id, const void* parameters) {
  const CUstream named = named_stream(id, parameters);
  const bool of_thread = id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz ||
                         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz ||
                         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz ||
                         id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
  return named == nullptr && of_thread ? CU_STREAM_PER_THREAD : named;
}

bool is_programmatic(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* parameters) {
  if (parameters == nullptr) return false;
  // Those for streams of threads have the same parameters.
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
    return launches_with_attributes(id) &&
           is_programmatic(static_cast<const cuLaunchKernelEx_params*>(parameters)->config);
  const bool runtime = id == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060 ||
                       id == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060;
  return runtime &&
         is_programmatic(static_cast<const cudaLaunchKernelExC_v11060_params*>(parameters)->config);
}

bool is_profiler_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool begins) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
    return id == (begins ? CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000
                         : CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000);
  return id == (begins ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart
                       : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
}

ContextEnd context_end(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
    return id == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020 ? ContextEnd::current
                                                                : ContextEnd::none;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy:
    case CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2:
      return ContextEnd::named;
    case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset:
    case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2:
      return ContextEnd::primary;
    case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease:
    case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2:
      return ContextEnd::released;
    default:
      return ContextEnd::none;
  }
}

CUcontext ended_context(CUpti_CallbackId id, const void* parameters) {
  if (parameters == nullptr) return nullptr;
  if (id == CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2)
    return static_cast<const cuCtxDestroy_v2_params*>(parameters)->ctx;
  if (id == CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy)
    return static_cast<const cuCtxDestroy_params*>(parameters)->ctx;
  return nullptr;
}

CUdevice device_of_ended(CUpti_CallbackId id, const void* parameters) {
  if (parameters == nullptr) return CU_DEVICE_INVALID;
  if (id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2)
    return static_cast<const cuDevicePrimaryCtxReset_v2_params*>(parameters)->dev;
  return static_cast<const cuDevicePrimaryCtxReset_params*>(parameters)->dev;
}

}  // namespace fathom::cuda

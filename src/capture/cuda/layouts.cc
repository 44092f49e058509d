// The table of CUPTI's record layouts, from CUDA 12.0 to 13.5.
#include "capture/cuda/layouts.h"

namespace fathom::cuda {
namespace {

/// From this version of the library on, a record of that kind is so long.
struct Layout {
  CUpti_ActivityKind kind;
  std::uint32_t since;
  std::size_t bytes;
};

// Of a kind, oldest first. Headers older than a record do not have it: what it adds is left out.
constexpr Layout kLayouts[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0, sizeof(CUpti_ActivityKernel9)},
#if CUPTI_API_VERSION >= 130000
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130000, sizeof(CUpti_ActivityKernel10)},
#endif
#if CUPTI_API_VERSION >= 130100
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130100, sizeof(CUpti_ActivityKernel11)},
#endif
#if CUPTI_API_VERSION >= 130300
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130300, sizeof(CUpti_ActivityKernel12)},
#endif
#if CUPTI_API_VERSION >= 130400
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130400, sizeof(CUpti_ActivityKernel13)},
#endif
    {CUPTI_ACTIVITY_KIND_MEMCPY, 0, sizeof(CUpti_ActivityMemcpy5)},
#if CUPTI_API_VERSION >= 26
    {CUPTI_ACTIVITY_KIND_MEMCPY, 26, sizeof(CUpti_ActivityMemcpy6)},
#endif
#if CUPTI_API_VERSION >= 130400
    {CUPTI_ACTIVITY_KIND_MEMCPY, 130400, sizeof(CUpti_ActivityMemcpy7)},
#endif
    {CUPTI_ACTIVITY_KIND_MEMCPY2, 0, sizeof(CUpti_ActivityMemcpyPtoP4)},
    {CUPTI_ACTIVITY_KIND_MEMSET, 0, sizeof(CUpti_ActivityMemset4)},
#if CUPTI_API_VERSION >= 130400
    {CUPTI_ACTIVITY_KIND_MEMSET, 130400, sizeof(CUpti_ActivityMemset5)},
#endif
    {CUPTI_ACTIVITY_KIND_RUNTIME, 0, sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_DRIVER, 0, sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API, 0, sizeof(CUpti_ActivityAPI)},
    {CUPTI_ACTIVITY_KIND_MEMORY2, 0, sizeof(CUpti_ActivityMemory3)},
#if CUPTI_API_VERSION >= 24
    {CUPTI_ACTIVITY_KIND_MEMORY2, 24, sizeof(CUpti_ActivityMemory4)},
#endif
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, 0, sizeof(CUpti_ActivityMemoryPool2)},
#if CUPTI_API_VERSION >= 130000
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, 130000, sizeof(CUpti_ActivityMemoryPool3)},
#endif
    {CUPTI_ACTIVITY_KIND_DEVICE, 0, sizeof(CUpti_ActivityDevice4)},
#if CUPTI_API_VERSION >= 20
    {CUPTI_ACTIVITY_KIND_DEVICE, 20, sizeof(CUpti_ActivityDevice5)},
#endif
#if CUPTI_API_VERSION >= 130200
    {CUPTI_ACTIVITY_KIND_DEVICE, 130200, sizeof(CUpti_ActivityDevice6)},
#endif
    {CUPTI_ACTIVITY_KIND_CONTEXT, 0, sizeof(CUpti_ActivityContext)},
#if CUPTI_API_VERSION >= 22
    {CUPTI_ACTIVITY_KIND_CONTEXT, 22, sizeof(CUpti_ActivityContext2)},
#endif
#if CUPTI_API_VERSION >= 23
    {CUPTI_ACTIVITY_KIND_CONTEXT, 23, sizeof(CUpti_ActivityContext3)},
#endif
#if CUPTI_API_VERSION >= 130100
    {CUPTI_ACTIVITY_KIND_CONTEXT, 130100, sizeof(CUpti_ActivityContext4)},
#endif
    {CUPTI_ACTIVITY_KIND_STREAM, 0, sizeof(CUpti_ActivityStream)},
    {CUPTI_ACTIVITY_KIND_NAME, 0, sizeof(CUpti_ActivityName)},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, 0, sizeof(CUpti_ActivityCudaEvent)},
#if CUPTI_API_VERSION >= 26
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, 26, sizeof(CUpti_ActivityCudaEvent2)},
#endif
#if CUPTI_API_VERSION >= 130500
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, 130500, sizeof(CUpti_ActivityCudaEvent3)},
#endif
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0, sizeof(CUpti_ActivitySynchronization)},
#if CUPTI_API_VERSION >= 26
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 26, sizeof(CUpti_ActivitySynchronization2)},
#endif
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 0, sizeof(CUpti_ActivityExternalCorrelation)},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, 0, sizeof(CUpti_ActivityOverhead)},
#if CUPTI_API_VERSION >= 21
    {CUPTI_ACTIVITY_KIND_OVERHEAD, 21, sizeof(CUpti_ActivityOverhead2)},
#endif
#if CUPTI_API_VERSION >= 22
    {CUPTI_ACTIVITY_KIND_OVERHEAD, 22, sizeof(CUpti_ActivityOverhead3)},
#endif
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 0, sizeof(CUpti_ActivityGraphTrace)},
#if CUPTI_API_VERSION >= 21
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 21, sizeof(CUpti_ActivityGraphTrace2)},
#endif
    {CUPTI_ACTIVITY_KIND_JIT, 0, sizeof(CUpti_ActivityJit)},
#if CUPTI_API_VERSION >= 22
    {CUPTI_ACTIVITY_KIND_JIT, 22, sizeof(CUpti_ActivityJit2)},
#endif
    {CUPTI_ACTIVITY_KIND_MARKER, 0, sizeof(CUpti_ActivityMarker2)},
#if CUPTI_API_VERSION >= 26
    {CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE, 26, sizeof(CUpti_ActivityDeviceGraphTrace)},
    {CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS, 26, sizeof(CUpti_ActivityMemDecompress)},
#endif
#if CUPTI_API_VERSION >= 130100
    {CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE, 130100, sizeof(CUpti_ActivityGraphHostNode)},
    {CUPTI_ACTIVITY_KIND_HOST_LAUNCH, 130100, sizeof(CUpti_ActivityHostLaunch)},
#endif
#if CUPTI_API_VERSION >= 130200
    {CUPTI_ACTIVITY_KIND_GREEN_CONTEXT, 130200, sizeof(CUpti_ActivityGreenContext)},
#endif
#if CUPTI_API_VERSION >= 130201
    {CUPTI_ACTIVITY_KIND_GREEN_CONTEXT, 130201, sizeof(CUpti_ActivityGreenContext2)},
#endif
#if CUPTI_API_VERSION >= 130400
    {CUPTI_ACTIVITY_KIND_GREEN_CONTEXT, 130400, sizeof(CUpti_ActivityGreenContext3)},
#endif
};

}  // namespace

std::size_t record_bytes(CUpti_ActivityKind kind, std::uint32_t version) {
  if (kind == CUPTI_ACTIVITY_KIND_KERNEL) kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  std::size_t bytes = 0;
  for (const Layout& layout : kLayouts)
    if (layout.kind == kind && layout.since <= version) bytes = layout.bytes;
  return bytes;
}

}  // namespace fathom::cuda

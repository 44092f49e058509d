// classify_call() over every call name that recordings at hand contain, and over names of other
// vendors.
#include <array>
#include <span>

#include <gtest/gtest.h>

#include "analysis/structure/links.h"

namespace fathom {
namespace {

struct Known {
  std::string_view name;
  CallKind kind;
};

void expect_kinds(std::span<const Known> calls) {
  for (const Known& call : calls) {
    EXPECT_EQ(static_cast<int>(classify_call(call.name)), static_cast<int>(call.kind)) << call.name;
  }
}

TEST(CallKind, KnowsTheCudaCallsOfRecordings) {
  expect_kinds(std::to_array<Known>({
      {"INVALID", CallKind::other},
      {"cuLaunchKernel", CallKind::launch},
      {"cuLaunchKernelEx", CallKind::launch},
      {"cudaDeviceGetAttribute", CallKind::other},
      {"cudaDeviceGetStreamPriorityRange", CallKind::other},
      {"cudaDeviceSynchronize", CallKind::synchronize},
      {"cudaDriverGetVersion", CallKind::other},
      {"cudaEventElapsedTime", CallKind::other},
      {"cudaEventQuery", CallKind::other},
      {"cudaEventRecord", CallKind::other},
      {"cudaEventRecordWithFlags", CallKind::other},
      {"cudaEventSynchronize", CallKind::synchronize},
      {"cudaFree", CallKind::allocate},
      {"cudaFuncGetAttributes", CallKind::other},
      {"cudaFuncSetAttribute", CallKind::other},
      {"cudaGetDeviceCount", CallKind::other},
      {"cudaGetDeviceProperties", CallKind::other},
      {"cudaGetFuncBySymbol", CallKind::other},
      {"cudaGetSymbolAddress", CallKind::other},
      {"cudaGraphLaunch", CallKind::graph_launch},
      {"cudaHostAlloc", CallKind::allocate},
      {"cudaHostGetDevicePointer", CallKind::other},
      {"cudaLaunchKernel", CallKind::launch},
      {"cudaLaunchKernelExC", CallKind::launch},
      {"cudaMalloc", CallKind::allocate},
      {"cudaMemcpy", CallKind::copy_blocking},
      {"cudaMemcpyAsync", CallKind::copy},
      {"cudaMemsetAsync", CallKind::fill},
      {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", CallKind::other},
      {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", CallKind::other},
      {"cudaPeekAtLastError", CallKind::other},
      {"cudaPointerGetAttributes", CallKind::other},
      {"cudaStreamCreateWithFlags", CallKind::other},
      {"cudaStreamCreateWithPriority", CallKind::other},
      {"cudaStreamGetCaptureInfo_v2", CallKind::other},
      {"cudaStreamGetPriority", CallKind::other},
      {"cudaStreamIsCapturing", CallKind::other},
      {"cudaStreamSynchronize", CallKind::synchronize},
      {"cudaStreamWaitEvent", CallKind::other},
  }));
}

TEST(CallKind, KnowsTheHipCallsOfRecordings) {
  expect_kinds(std::to_array<Known>({
      {"hipCtxGetCurrent", CallKind::other},
      {"hipDeviceGetAttribute", CallKind::other},
      {"hipDeviceSynchronize", CallKind::synchronize},
      {"hipDriverGetVersion", CallKind::other},
      {"hipEventDestroy", CallKind::other},
      {"hipEventSynchronize", CallKind::synchronize},
      {"hipExtModuleLaunchKernel", CallKind::launch},
      {"hipGetDevicePropertiesR0600", CallKind::other},
      {"hipGraphLaunch", CallKind::graph_launch},
      {"hipLaunchKernel", CallKind::launch},
      {"hipMalloc", CallKind::allocate},
      {"hipMemcpyAsync", CallKind::copy},
      {"hipMemcpyWithStream", CallKind::copy_blocking},
      {"hipModuleLaunchKernel", CallKind::launch},
      {"hipPointerGetAttribute", CallKind::other},
      {"hipStreamGetCaptureInfo", CallKind::other},
      {"hipStreamGetDevice", CallKind::other},
      {"hipStreamIsCapturing", CallKind::other},
      {"hipStreamWaitEvent", CallKind::other},
  }));
}

TEST(CallKind, KnowsVariantsOfTheCudaInterfaces) {
  expect_kinds(std::to_array<Known>({
      {"cudaLaunch", CallKind::launch},
      {"cudaLaunchKernel_ptsz", CallKind::launch},
      {"cudaLaunchCooperativeKernel", CallKind::launch},
      {"cudaLaunchHostFunc", CallKind::other},
      {"cuLaunchCooperativeKernel", CallKind::launch},
      {"cuLaunchGridAsync", CallKind::launch},
      {"cuGraphLaunch", CallKind::graph_launch},
      {"cudaGraphInstantiate", CallKind::other},
      {"cudaGraphAddKernelNode", CallKind::other},
      {"cudaGraphAddMemcpyNode", CallKind::other},
      {"cudaGraphExecMemcpyNodeSetParams", CallKind::other},
      {"cudaMemcpyPeerAsync", CallKind::copy},
      {"cudaMemcpyBatchAsync", CallKind::copy},
      {"cudaMemcpyToSymbol", CallKind::copy_blocking},
      {"cuMemcpyHtoD_v2", CallKind::copy_blocking},
      {"cuMemcpyDtoHAsync_v2", CallKind::copy},
      {"cudaMemset", CallKind::fill_blocking},
      {"cuMemsetD8Async", CallKind::fill},
      {"cuMemsetD32_v2", CallKind::fill_blocking},
      {"cuStreamSynchronize", CallKind::synchronize},
      {"cuCtxSynchronize", CallKind::synchronize},
      {"cudaStreamSynchronize_ptsz", CallKind::synchronize},
      {"cudaMallocAsync", CallKind::allocate},
      {"cudaFreeHost", CallKind::allocate},
      {"cudaHostRegister", CallKind::allocate},
      {"cuMemAlloc_v2", CallKind::allocate},
      {"cuMemFree_v2", CallKind::allocate},
      {"cuMemCreate", CallKind::allocate},
      {"cuMemMap", CallKind::allocate},
      {"cuMemAddressReserve", CallKind::allocate},
      {"cudaMemGetInfo", CallKind::other},
  }));
}

TEST(CallKind, KnowsTheCallsOfIntelAndOfMtia) {
  expect_kinds(std::to_array<Known>({
      {"zeCommandListAppendLaunchKernel", CallKind::launch},
      {"zeCommandListAppendLaunchCooperativeKernel", CallKind::launch},
      {"zeCommandListAppendMemoryCopy", CallKind::copy},
      {"zeCommandListAppendMemoryFill", CallKind::fill},
      {"zeCommandQueueSynchronize", CallKind::synchronize},
      {"zeEventHostSynchronize", CallKind::synchronize},
      {"zeCommandQueueExecuteCommandLists", CallKind::other},
      {"zeMemAllocDevice", CallKind::allocate},
      {"zeMemFree", CallKind::allocate},
      {"urEnqueueKernelLaunch", CallKind::launch},
      {"urEnqueueUSMMemcpy", CallKind::copy},
      {"urEnqueueUSMFill", CallKind::fill},
      {"urEnqueueMemBufferRead", CallKind::copy},
      {"urEnqueueEventsWait", CallKind::other},
      {"urQueueFinish", CallKind::synchronize},
      {"urEventWait", CallKind::synchronize},
      {"urUSMDeviceAlloc", CallKind::allocate},
      {"urUSMFree", CallKind::allocate},
      {"piEnqueueKernelLaunch", CallKind::launch},
      {"piextUSMEnqueueMemcpy", CallKind::copy},
      {"piextUSMEnqueueMemset", CallKind::fill},
      {"piQueueFinish", CallKind::synchronize},
      {"mtiaLaunchKernel", CallKind::launch},
      {"mtiaMemcpyAsync", CallKind::copy},
      {"mtiaDeviceSynchronize", CallKind::synchronize},
  }));
}

}  // namespace
}  // namespace fathom

// Which record a libcupti writes for a kind of activity: it depends on the library's version, not
// on the headers that we are compiled with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "capture/cuda/cupti.h"

namespace fathom::cuda {

// The newest records that these headers know. Each begins with the fields of its predecessors.
#if CUPTI_API_VERSION >= 130400
using KernelRecord = CUpti_ActivityKernel13;
using CopyRecord = CUpti_ActivityMemcpy7;
using FillRecord = CUpti_ActivityMemset5;
#elif CUPTI_API_VERSION >= 130300
using KernelRecord = CUpti_ActivityKernel12;
#elif CUPTI_API_VERSION >= 130100
using KernelRecord = CUpti_ActivityKernel11;
#elif CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif
#if CUPTI_API_VERSION < 130400
#if CUPTI_API_VERSION >= 26
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using FillRecord = CUpti_ActivityMemset4;
#endif
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP4;
#if CUPTI_API_VERSION >= 24
using MemoryRecord = CUpti_ActivityMemory4;
#else
using MemoryRecord = CUpti_ActivityMemory3;
#endif
#if CUPTI_API_VERSION >= 130000
using PoolRecord = CUpti_ActivityMemoryPool3;
#else
using PoolRecord = CUpti_ActivityMemoryPool2;
#endif
#if CUPTI_API_VERSION >= 130200
using DeviceRecord = CUpti_ActivityDevice6;
#elif CUPTI_API_VERSION >= 20
using DeviceRecord = CUpti_ActivityDevice5;
#else
using DeviceRecord = CUpti_ActivityDevice4;
#endif
#if CUPTI_API_VERSION >= 130100
using ContextRecord = CUpti_ActivityContext4;
#elif CUPTI_API_VERSION >= 23
using ContextRecord = CUpti_ActivityContext3;
#elif CUPTI_API_VERSION >= 22
using ContextRecord = CUpti_ActivityContext2;
#else
using ContextRecord = CUpti_ActivityContext;
#endif
#if CUPTI_API_VERSION >= 130500
using EventRecord = CUpti_ActivityCudaEvent3;
#elif CUPTI_API_VERSION >= 26
using EventRecord = CUpti_ActivityCudaEvent2;
#else
using EventRecord = CUpti_ActivityCudaEvent;
#endif
#if CUPTI_API_VERSION >= 26
using WaitRecord = CUpti_ActivitySynchronization2;
#else
using WaitRecord = CUpti_ActivitySynchronization;
#endif
#if CUPTI_API_VERSION >= 22
using OverheadRecord = CUpti_ActivityOverhead3;
using JitRecord = CUpti_ActivityJit2;
#else
using OverheadRecord = CUpti_ActivityOverhead;
using JitRecord = CUpti_ActivityJit;
#endif
#if CUPTI_API_VERSION >= 21
using GraphRecord = CUpti_ActivityGraphTrace2;
#else
using GraphRecord = CUpti_ActivityGraphTrace;
#endif
using MarkerRecord = CUpti_ActivityMarker2;
#if CUPTI_API_VERSION >= 130400
using GreenRecord = CUpti_ActivityGreenContext3;
#elif CUPTI_API_VERSION >= 130201
using GreenRecord = CUpti_ActivityGreenContext2;
#elif CUPTI_API_VERSION >= 130200
using GreenRecord = CUpti_ActivityGreenContext;
#endif

/// Bytes of a record of this kind that a libcupti of that version fills in and we know of; 0: no
/// record that we read.
std::size_t record_bytes(CUpti_ActivityKind kind, std::uint32_t version);

/// A record as the newest that we know; what a library of that version does not have is 0.
template <typename Newest>
Newest widened(const CUpti_Activity& record, std::uint32_t version) {
  Newest wide{};
  const std::size_t bytes = std::min(record_bytes(record.kind, version), sizeof wide);
  std::memcpy(&wide, &record, bytes);
  return wide;
}

}  // namespace fathom::cuda

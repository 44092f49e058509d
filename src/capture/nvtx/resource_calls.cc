// Handles NVTX calls that name resources of CUDA and OpenCL.
#include <cstddef>
#include <string>

#include <pthread.h>

#include "capture/inside/recorder.h"
#include "capture/nvtx/calls.h"
#include "capture/nvtx/messages.h"
#include "capture/nvtx/resources.h"

namespace fathom::nvtx {
namespace {

constexpr std::uint32_t kThreadNative = NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE;

/// Class in the upper half, number in the lower, as the headers of each library have them.
struct ResourceKind {
  std::uint32_t type;
  std::string_view kind;
};
constexpr ResourceKind kKinds[] = {
    {NVTX_RESOURCE_TYPE_GENERIC_POINTER, "pointer"},
    {NVTX_RESOURCE_TYPE_GENERIC_HANDLE, "handle"},
    {NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX, "pthread"},
    {0x40001, "device"},
    {0x40002, "context"},
    {0x40003, "stream"},
    {0x40004, "event"},
    {0x50000, "device"},
    {0x50001, "stream"},
    {0x50002, "event"},
    {0x60001, "opencl.device"},
    {0x60002, "opencl.context"},
    {0x60003, "opencl.queue"},
    {0x60004, "opencl.memory"},
    {0x60005, "opencl.sampler"},
    {0x60006, "opencl.program"},
    {0x60007, "opencl.event"},
};

std::string kind_of(std::uint32_t type) {
  for (const ResourceKind& one : kKinds)
    if (one.type == type) return std::string(one.kind);
  return "resource." + std::to_string(type >> 16) + '.' + std::to_string(type & 0xffffU);
}

/// The kind of thing is a template argument, as the calls say it by being several.
enum class Thing {
  device,
  context,
  stream,
  event,
  cl_device,
  cl_context,
  cl_queue,
  cl_memory,
  cl_sampler,
  cl_program,
  cl_event
};
constexpr std::string_view kThings[] = {"device",         "context",       "stream",
                                        "event",          "opencl.device", "opencl.context",
                                        "opencl.queue",   "opencl.memory", "opencl.sampler",
                                        "opencl.program", "opencl.event"};

template <Thing Named, typename Message>
void name_handle(const void* handle, const Message* name) {
  name_thing(kThings[static_cast<std::size_t>(Named)], reinterpret_cast<std::uintptr_t>(handle),
             text_of(name));
}
template <typename Message>
void name_device(int device, const Message* name) {
  name_thing("device", static_cast<std::uint64_t>(device), text_of(name));
}

}  // namespace

void name_thing(std::string_view kind, std::uint64_t handle, const char* permanent_name) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string digits;
  do {
    digits.insert(digits.begin(), kDigits[handle & 0xfU]);
    handle >>= 4U;
  } while (handle != 0);
  inside::Recorder::get().fact(std::string(kind) + '.' + digits, permanent_name);
}

nvtxResourceHandle_t name_resource(const nvtxResourceAttributes_t* attributes) {
  if (attributes == nullptr) return nullptr;
  const char* const name = text_of(attributes->messageType, attributes->message);
  const auto type = static_cast<std::uint32_t>(attributes->identifierType);
  if (type == kThreadNative) {
    inside::Recorder::get().name_thread(static_cast<std::int64_t>(attributes->identifier.ullValue),
                                        name);
  } else {
    name_thing(kind_of(type), attributes->identifier.ullValue, name);
  }
  // Any handle but null will do: nothing is asked of it later.
  return reinterpret_cast<nvtxResourceHandle_t>(const_cast<char*>(name));
}

std::span<const Call> cuda_calls() {
  static const Call calls[] = {
      call<name_device<char>>(NVTX_CBID_CUDA_NameCuDeviceA),
      call<name_device<wchar_t>>(NVTX_CBID_CUDA_NameCuDeviceW),
      call<name_handle<Thing::context, char>>(NVTX_CBID_CUDA_NameCuContextA),
      call<name_handle<Thing::context, wchar_t>>(NVTX_CBID_CUDA_NameCuContextW),
      call<name_handle<Thing::stream, char>>(NVTX_CBID_CUDA_NameCuStreamA),
      call<name_handle<Thing::stream, wchar_t>>(NVTX_CBID_CUDA_NameCuStreamW),
      call<name_handle<Thing::event, char>>(NVTX_CBID_CUDA_NameCuEventA),
      call<name_handle<Thing::event, wchar_t>>(NVTX_CBID_CUDA_NameCuEventW),
  };
  return calls;
}

std::span<const Call> cudart_calls() {
  static const Call calls[] = {
      call<name_device<char>>(NVTX_CBID_CUDART_NameCudaDeviceA),
      call<name_device<wchar_t>>(NVTX_CBID_CUDART_NameCudaDeviceW),
      call<name_handle<Thing::stream, char>>(NVTX_CBID_CUDART_NameCudaStreamA),
      call<name_handle<Thing::stream, wchar_t>>(NVTX_CBID_CUDART_NameCudaStreamW),
      call<name_handle<Thing::event, char>>(NVTX_CBID_CUDART_NameCudaEventA),
      call<name_handle<Thing::event, wchar_t>>(NVTX_CBID_CUDART_NameCudaEventW),
  };
  return calls;
}

std::span<const Call> opencl_calls() {
  static const Call calls[] = {
      call<name_handle<Thing::cl_device, char>>(NVTX_CBID_OPENCL_NameClDeviceA),
      call<name_handle<Thing::cl_device, wchar_t>>(NVTX_CBID_OPENCL_NameClDeviceW),
      call<name_handle<Thing::cl_context, char>>(NVTX_CBID_OPENCL_NameClContextA),
      call<name_handle<Thing::cl_context, wchar_t>>(NVTX_CBID_OPENCL_NameClContextW),
      call<name_handle<Thing::cl_queue, char>>(NVTX_CBID_OPENCL_NameClCommandQueueA),
      call<name_handle<Thing::cl_queue, wchar_t>>(NVTX_CBID_OPENCL_NameClCommandQueueW),
      call<name_handle<Thing::cl_memory, char>>(NVTX_CBID_OPENCL_NameClMemObjectA),
      call<name_handle<Thing::cl_memory, wchar_t>>(NVTX_CBID_OPENCL_NameClMemObjectW),
      call<name_handle<Thing::cl_sampler, char>>(NVTX_CBID_OPENCL_NameClSamplerA),
      call<name_handle<Thing::cl_sampler, wchar_t>>(NVTX_CBID_OPENCL_NameClSamplerW),
      call<name_handle<Thing::cl_program, char>>(NVTX_CBID_OPENCL_NameClProgramA),
      call<name_handle<Thing::cl_program, wchar_t>>(NVTX_CBID_OPENCL_NameClProgramW),
      call<name_handle<Thing::cl_event, char>>(NVTX_CBID_OPENCL_NameClEventA),
      call<name_handle<Thing::cl_event, wchar_t>>(NVTX_CBID_OPENCL_NameClEventW),
  };
  return calls;
}

}  // namespace fathom::nvtx

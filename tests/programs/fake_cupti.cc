// Stands in for libcupti in tests: writes the records of a made-up GPU into the buffers that it is
// given, as a library of the version that CUPTI_FAKE_VERSION names would. CUPTI_FAKE_REFUSE
// lists kinds, by number, that it refuses for lack of rights. Who breaks CUPTI's rules is ended
// (fake_cupti_rules.h); how buffers come back is in fake_cupti_delivery.h.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <time.h>
#include <unistd.h>

#include "capture/cuda/layouts.h"
#include "capture/inside/never_freed.h"
#include "tests/programs/fake_cupti_delivery.h"
#include "tests/programs/fake_cupti_rules.h"
#include "tests/programs/fed.h"

using fathom::test::broken;
using fathom::test::called;
using fathom::test::fake_version;

namespace {

/// The made-up GPU's clock is ahead of the host's by so much.
constexpr std::int64_t kAhead = 1'000'000'000'000;

struct State {
  std::mutex mutex;
  bool held = false;
  bool subscribed = false;
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  std::set<int> enabled;
  bool graph_wholes = false;  // were enabled once
  std::size_t dropped = 0;
  std::uint32_t correlation = 0;
  std::atomic<int> flushes{0};
  std::atomic<int> taken{0};
};

State& state() { return fathom::inside::never_freed<State>(); }

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<CUpti_TimestampCallbackFunc> clock_of_client{nullptr};

std::uint64_t now() {
  if (const CUpti_TimestampCallbackFunc read = clock_of_client) return read();
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec +
                                    kAhead);
}

bool refused(int kind) {
  const char* const said = std::getenv("CUPTI_FAKE_REFUSE");
  const std::string list = "," + std::string(said == nullptr ? "" : said) + ",";
  return list.find("," + std::to_string(kind) + ",") != std::string::npos;
}

std::size_t aligned(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// Into the buffer at hand. The lock is held.
void write(const void* record, CUpti_ActivityKind kind) {
  if (!state().enabled.contains(kind)) return;
  fathom::test::put_record(record, aligned(fathom::cuda::record_bytes(kind, fake_version())));
}

void call(CUpti_CallbackId id, std::uint32_t correlation, std::uint64_t start, std::uint64_t end) {
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.cbid = id;
  record.start = start;
  record.end = end;
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = static_cast<std::uint32_t>(gettid());
  record.correlationId = correlation;
  write(&record, record.kind);
}

constexpr CUpti_CallbackId kLaunch = 211;
constexpr CUpti_CallbackId kCopy = 41;
constexpr CUpti_CallbackId kWait = 131;
constexpr CUpti_CallbackId kGraphLaunch = 311;

void tell(CUpti_CallbackId id, CUpti_ApiCallbackSite site) {
  CUpti_CallbackData data{};
  data.callbackSite = site;
  if (state().callback != nullptr)
    state().callback(state().user, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

/// Of the made-up GPU's events, ns.
std::int64_t& event_clock() {
  static std::int64_t time = 0;
  return time;
}

CUptiResult subscribed(CUpti_CallbackFunc callback, void* user) {
  State& s = state();
  if (s.held || s.subscribed) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  s.subscribed = true;
  s.callback = callback;
  s.user = user;
  return CUPTI_SUCCESS;
}

}  // namespace

extern "C" {

// What a GPU and the program do.

[[gnu::visibility("default")]] void fake_hold() { state().held = true; }

/// So often: a copy to the device and a kernel, launched by calls of this thread, and a wait.
[[gnu::visibility("default")]] void fake_work(int rounds) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.subscribed) return;
  static bool told = false;
  if (!told && s.enabled.contains(CUPTI_ACTIVITY_KIND_DEVICE)) {
    told = true;
    fathom::cuda::DeviceRecord device{};
    device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    device.name = "Fake GPU";
    device.numMultiprocessors = 4;
    device.numThreadsPerWarp = 32;
    device.maxWarpsPerMultiprocessor = 64;
    device.computeCapabilityMajor = 9;
    device.maxThreadsPerBlock = 1024;
    device.maxRegistersPerMultiprocessor = 65536;
    device.maxSharedMemoryPerMultiprocessor = 233472;
    device.maxBlocksPerMultiprocessor = 32;
    device.globalMemorySize = std::uint64_t{1} << 34;
    write(&device, device.kind);
  }
  for (int i = 0; i < rounds; ++i) {
    const std::uint64_t start = now();
    const std::uint32_t copying = ++s.correlation;
    call(kCopy, copying, start, start + 1000);
    fathom::cuda::CopyRecord copy{};
    copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
    copy.bytes = 1000;
    copy.start = start + 2000;
    copy.end = start + 3000;
    copy.contextId = 1;
    copy.streamId = 7;
    copy.correlationId = copying;
    write(&copy, copy.kind);
    const std::uint32_t launching = ++s.correlation;
    call(kLaunch, launching, start + 1000, start + 2000);
    fathom::cuda::KernelRecord kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.name = "_Z3addPfS_i";
    kernel.start = start + 3000;
    kernel.end = start + 8000;
    kernel.contextId = 1;
    kernel.streamId = 7;
    kernel.gridX = 8;
    kernel.gridY = kernel.gridZ = 1;
    kernel.blockX = 128;
    kernel.blockY = kernel.blockZ = 1;
    kernel.registersPerThread = 32;
    kernel.dynamicSharedMemory = 512;
    kernel.correlationId = launching;
    write(&kernel, kernel.kind);
    const std::uint32_t waiting = ++s.correlation;
    call(kWait, waiting, start + 2000, start + 9000);
    fathom::cuda::WaitRecord wait{};
    wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    wait.start = start + 2500;
    wait.end = start + 8800;
    wait.correlationId = waiting;
    wait.contextId = 1;
    wait.streamId = 7;
    wait.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    write(&wait, wait.kind);
  }
}

/// So many launches of a graph of two kernels. Once wholes were asked for there are no nodes.
[[gnu::visibility("default")]] void fake_graph(int launches) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (int i = 0; i < launches; ++i) {
    const std::uint64_t start = now();
    const std::uint32_t launching = ++s.correlation;
    call(kGraphLaunch, launching, start, start + 1000);
    fathom::cuda::GraphRecord whole{};
    whole.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    whole.start = start + 2000;
    whole.end = start + 8000;
    whole.contextId = 1;
    whole.streamId = 7;
    whole.graphId = 5;
    whole.correlationId = launching;
    write(&whole, whole.kind);
    for (std::uint64_t node = 1; node <= 2 && !s.graph_wholes; ++node) {
      fathom::cuda::KernelRecord kernel{};
      kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
      kernel.name = "_Z3addPfS_i";
      kernel.start = start + 2000 * node;
      kernel.end = kernel.start + 1000;
      kernel.contextId = 1;
      kernel.streamId = 7;
      kernel.graphId = 5;
      kernel.graphNodeId = node;
      kernel.correlationId = launching;
      write(&kernel, kernel.kind);
    }
  }
}

/// A kernel that has begun and does not end.
[[gnu::visibility("default")]] void fake_endless_kernel() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const std::uint64_t start = now();
  const std::uint32_t launching = ++s.correlation;
  call(kLaunch, launching, start, start + 1000);
  fathom::cuda::KernelRecord kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.name = "_Z7endlessv";
  kernel.start = start + 2000;
  kernel.contextId = 1;
  kernel.streamId = 7;
  kernel.correlationId = launching;
  write(&kernel, kernel.kind);
}

/// The profiler of PyTorch asks for CUPTI: its answer.
[[gnu::visibility("default")]] int fake_kineto_subscribes() {
  CUpti_SubscriberHandle none = nullptr;
  return cuptiSubscribe(
      &none, [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}, nullptr);
}

/// From torch 2.15 on it does without: callbacks for buffers and clocks are those of the last who
/// set them.
[[gnu::visibility("default")]] void fake_kineto_takes() {
  constexpr std::size_t kSize = 1 << 16;
  const auto request = [](std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
    *buffer = static_cast<std::uint8_t*>(std::calloc(1, kSize));
    *size = kSize;
    *most = 0;
  };
  const auto complete = [](CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                           std::size_t) { std::free(buffer); };
  const std::lock_guard lock(state().mutex);
  fathom::test::flush_buffers(true);
  fathom::test::set_buffer_callbacks(request, complete);
#ifdef __x86_64__
  clock_of_client = [] { return static_cast<std::uint64_t>(__builtin_ia32_rdtsc()); };
#endif
}

/// Whether kernels would be recorded now.
[[gnu::visibility("default")]] int fake_recording() {
  const std::lock_guard lock(state().mutex);
  return state().enabled.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ? 1 : 0;
}

/// Launches as the driver does, and tells the subscriber before and after.
[[gnu::visibility("default")]] void fake_launch(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    cuLaunchKernel_params parameters{};
    CUpti_CallbackData data{};
    data.functionParams = &parameters;
    data.symbolName = "_Z3addPfS_i";
    data.contextUid = 1;
    data.correlationId = ++state().correlation;
    for (const CUpti_ApiCallbackSite site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
      data.callbackSite = site;
      if (state().callback != nullptr)
        state().callback(state().user, CUPTI_CB_DOMAIN_DRIVER_API,
                         CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
      // As long as the kernel runs.
      if (site == CUPTI_API_ENTER) event_clock() += 5000;
    }
  }
}

[[gnu::visibility("default")]] void fake_profiler_start() {
  tell(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_API_ENTER);
  tell(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_API_EXIT);
}

[[gnu::visibility("default")]] void fake_profiler_stop() {
  tell(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, CUPTI_API_ENTER);
  tell(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, CUPTI_API_EXIT);
}

/// Until what was written so far was asked for, and the next time too: then it is in the file.
[[gnu::visibility("default")]] void fake_wait_for_flush() {
  const int until = state().flushes + 2;
  while (state().flushes < until) usleep(1000);
}

// What the driver does: an event holds the time at which it was recorded.

CUresult cuEventCreate(CUevent* event, unsigned /*flags*/) {
  const fathom::test::Fed fed;
  auto& events = fathom::inside::never_freed<std::deque<std::int64_t>>();
  *event = reinterpret_cast<CUevent>(&events.emplace_back(-1));
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream /*stream*/) {
  *reinterpret_cast<std::int64_t*>(event) = event_clock();
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent /*event*/) { return CUDA_SUCCESS; }
CUresult cuEventSynchronize(CUevent /*event*/) { return CUDA_SUCCESS; }
CUresult cuStreamIsCapturing(CUstream /*stream*/, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

#undef cuEventElapsedTime
// NOLINTNEXTLINE(readability-identifier-naming): the driver's
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  *milliseconds = static_cast<float>(static_cast<double>(*reinterpret_cast<std::int64_t*>(end) -
                                                         *reinterpret_cast<std::int64_t*>(begin)) *
                                     1e-6);
  return CUDA_SUCCESS;
}

// What CUPTI does.

CUptiResult cuptiGetVersion(uint32_t* api) {
  *api = fake_version();
  return called("cuptiGetVersion");
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* user) {
  *subscriber = nullptr;
  if (const CUptiResult result = called("cuptiSubscribe"); result != CUPTI_SUCCESS) return result;
  const CUptiResult result = subscribed(callback, user);
  if (result == CUPTI_SUCCESS) *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&state());
  return result;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle /*subscriber*/) {
  State& s = state();
  s.subscribed = false;
  s.callback = nullptr;
  return called("cuptiUnsubscribe");
}

CUptiResult cuptiEnableCallback(uint32_t /*enable*/, CUpti_SubscriberHandle /*subscriber*/,
                                CUpti_CallbackDomain /*domain*/, CUpti_CallbackId /*id*/) {
  if (!state().subscribed) broken("cuptiEnableCallback without a subscriber");
  return called("cuptiEnableCallback");
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  if (const CUptiResult result = called("cuptiActivityRegisterCallbacks"); result != CUPTI_SUCCESS)
    return result;
  fathom::test::set_buffer_callbacks(request, complete);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t* size,
                                      void* value) {
  if (attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER && *size == 1 &&
      *static_cast<std::uint8_t*>(value) == 1)
    fathom::test::expect_zeros();
  return called("cuptiActivitySetAttribute");
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const fathom::test::Fed fed;
  if (const CUptiResult result = called("cuptiActivityEnable"); result != CUPTI_SUCCESS)
    return result;
  if (refused(kind)) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  const std::lock_guard lock(state().mutex);
  if (!fathom::test::has_buffer_callbacks())
    broken("a kind of activity was enabled before there were callbacks for buffers");
  state().enabled.insert(kind);
  if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) state().graph_wholes = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  if (const CUptiResult result = called("cuptiActivityDisable"); result != CUPTI_SUCCESS)
    return result;
  const std::lock_guard lock(state().mutex);
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && fake_version() <= 130000 &&
      state().enabled.contains(kind))
    broken("kernels were disabled, which may hang up to CUDA 13.0");
  state().enabled.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  const CUptiResult result = called("cuptiActivityFlushAll");
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (result == CUPTI_SUCCESS)
    fathom::test::flush_buffers((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
  ++s.flushes;
  return result;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  if (const CUptiResult result = called("cuptiActivityGetNextRecord"); result != CUPTI_SUCCESS)
    return result;
  std::uint8_t* next = buffer;
  if (*record != nullptr)
    next = reinterpret_cast<std::uint8_t*>(*record) +
           aligned(fathom::cuda::record_bytes((*record)->kind, fake_version()));
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, uint32_t /*stream*/,
                                              size_t* dropped) {
  if (const CUptiResult result = called("cuptiActivityGetNumDroppedRecords");
      result != CUPTI_SUCCESS)
    return result;
  const std::lock_guard lock(state().mutex);
  const char* const more = std::getenv("CUPTI_FAKE_DROPPED");
  if (more != nullptr && state().taken++ == 0)
    state().dropped += static_cast<std::size_t>(std::atoi(more));
  *dropped = state().dropped;
  state().dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  *timestamp = now();
  return called("cuptiGetTimestamp");
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain /*domain*/, uint32_t id, const char** name) {
  *name = id == kLaunch        ? "cudaLaunchKernel_v7000"
          : id == kCopy        ? "cudaMemcpyAsync_v3020"
          : id == kWait        ? "cudaStreamSynchronize_v3020"
          : id == kGraphLaunch ? "cudaGraphLaunch_v10000"
                               : nullptr;
  if (const CUptiResult result = called("cuptiGetCallbackName"); result != CUPTI_SUCCESS)
    return result;
  return *name == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
              ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
              : nullptr;
  return *text == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

}  // extern "C"

// Stands in for libcupti in tests: writes the records of a made-up GPU into the buffers that it is
// given, as a library of the version that CUPTI_FAKE_VERSION names would. CUPTI_FAKE_REFUSE
// lists kinds, by number, that it refuses for lack of rights.
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
#include "tests/programs/fed.h"

namespace {

/// The made-up GPU's clock is ahead of the host's by so much.
constexpr std::int64_t kAhead = 1'000'000'000'000;

struct State {
  std::mutex mutex;
  bool held = false;
  bool subscribed = false;
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::set<int> enabled;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  std::size_t dropped = 0;
  std::uint32_t correlation = 0;
  std::atomic<int> flushes{0};
  std::atomic<int> taken{0};
};

State& state() { return fathom::inside::never_freed<State>(); }

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec +
                                    kAhead);
}

std::uint32_t version() {
  const char* const said = std::getenv("CUPTI_FAKE_VERSION");
  return said == nullptr ? CUPTI_API_VERSION : static_cast<std::uint32_t>(std::atoi(said));
}

bool refused(int kind) {
  const char* const said = std::getenv("CUPTI_FAKE_REFUSE");
  const std::string list = "," + std::string(said == nullptr ? "" : said) + ",";
  return list.find("," + std::to_string(kind) + ",") != std::string::npos;
}

std::size_t aligned(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// Into the buffer at hand. The lock is held.
void write(const void* record, CUpti_ActivityKind kind) {
  State& s = state();
  const std::size_t bytes = aligned(fathom::cuda::record_bytes(kind, version()));
  if (!s.enabled.contains(kind)) return;
  if (s.buffer != nullptr && s.used + bytes > s.size) {
    s.complete(nullptr, 0, s.buffer, s.size, s.used);
    s.buffer = nullptr;
  }
  if (s.buffer == nullptr) {
    std::size_t most = 0;
    s.used = 0;
    s.request(&s.buffer, &s.size, &most);
    // Small ones, so that several are filled.
    s.size = std::min<std::size_t>(s.size, 4096);
  }
  if (s.buffer == nullptr) {
    ++s.dropped;
    return;
  }
  std::memcpy(s.buffer + s.used, record, bytes);
  s.used += bytes;
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
constexpr CUpti_CallbackId kWait = 165;

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
  if (s.held) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
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
  *api = version();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* user) {
  *subscriber = nullptr;
  return subscribed(callback, user);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle /*subscriber*/) { return CUPTI_SUCCESS; }

CUptiResult cuptiEnableCallback(uint32_t /*enable*/, CUpti_SubscriberHandle /*subscriber*/,
                                CUpti_CallbackDomain /*domain*/, CUpti_CallbackId /*id*/) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  state().request = request;
  state().complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const fathom::test::Fed fed;
  if (refused(kind)) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  const std::lock_guard lock(state().mutex);
  state().enabled.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(state().mutex);
  state().enabled.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  // Records that are not complete yet are not given back unless by force.
  const bool give =
      std::getenv("CUPTI_FAKE_LATE") == nullptr || (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0;
  if (give && s.buffer != nullptr) {
    s.complete(nullptr, 0, s.buffer, s.size, s.used);
    s.buffer = nullptr;
  }
  ++s.flushes;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr)
    next = reinterpret_cast<std::uint8_t*>(*record) +
           aligned(fathom::cuda::record_bytes((*record)->kind, version()));
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, uint32_t /*stream*/,
                                              size_t* dropped) {
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
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain /*domain*/, uint32_t id, const char** name) {
  *name = id == kLaunch ? "cudaLaunchKernel_v7000"
          : id == kCopy ? "cudaMemcpyAsync_v3020"
          : id == kWait ? "cudaStreamSynchronize_v3020"
                        : nullptr;
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

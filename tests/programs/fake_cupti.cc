// Stands in for libcupti in tests: writes the records of a made-up GPU into the buffers that it is
// given, as a library of the version that CUPTI_FAKE_VERSION names would. CUPTI_FAKE_REFUSE
// lists kinds, by number, that it refuses for lack of rights. CUPTI_FAKE_V2: another client uses
// the second version of CUPTI's interface. CUPTI_FAKE_GPUS: so many, in turn.
// CUPTI_FAKE_CORRELATION: the number of the call before the first. CUPTI_FAKE_CAPTURE: another
// thread captures a graph, which calls of events would spoil. CUPTI_FAKE_TSC: the clock is the
// processor's from the beginning. CUPTI_FAKE_MEANWHILE: while a kind is disabled, a callback comes
// in another thread, and CUPTI waits for it. CUPTI_FAKE_FIRST: the k-th time that kernels are
// enabled, the first k of them are lost. CUPTI_FAKE_DRIVER: the newest version of CUDA that the
// driver runs, 13000 for CUDA 13.0; else one of the library's. CUPTI_FAKE_STUB: the driver lacks
// what a libcupti starts with. CUPTI_FAKE_ENDS: who asks for the version is ended by that signal,
// 0: without one. Compiled with FAKE_CUPTI_13_2 it has the functions of CUDA 13.2, and its fault.
// CUPTI_FAKE_GREEN: the program has a green context. CUPTI_FAKE_SHORTER: the library states eight
// bytes too few for records of that kind. Who breaks CUPTI's rules is ended (fake_cupti_rules.h);
// how buffers come back is in fake_cupti_delivery.h.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <time.h>
#include <unistd.h>

#include "capture/cuda/layouts.h"
#include "capture/inside/never_freed.h"
#include "tests/programs/fake_cupti_delivery.h"
#include "tests/programs/fake_cupti_rules.h"
#include "tests/programs/fed.h"

// Called by those who have no header of CUDA, with numbers in place of its enumerations.
#ifdef __clang__
#define OF_ANY_TYPE __attribute__((no_sanitize("function")))
#else
#define OF_ANY_TYPE
#endif

using fathom::test::broken;
using fathom::test::called;
using fathom::test::fake_version;

namespace {

/// The made-up GPU's clock is ahead of the host's by so much.
constexpr std::uint64_t kAhead = 1'000'000'000'000;

struct State {
  std::mutex mutex;
  bool held = false;
  bool subscribed = false;
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  std::set<int> enabled;
  bool graph_wholes = false;  // were enabled once
  std::size_t dropped = 0;
  void* running = nullptr;    // the record of a kernel that has not ended
  std::vector<void*> queued;  // records of kernels that have not begun
  bool made_context = false;  // before anybody listened
  std::atomic<int> foreign_flushes{0};
  std::atomic<bool> foreign{false};  // another client has the buffers
  std::atomic<std::uint32_t> correlation{0};
  std::mutex heard_mutex;
  std::set<unsigned> left_out;               // calls of the runtime that are not recorded
  std::set<std::pair<int, unsigned>> heard;  // calls that the subscriber wants to hear of
  std::atomic<int> flushes{0};
  std::atomic<int> readings{0};
  std::atomic<int> taken{0};
  std::atomic<int> retained{0};  // by how many the primary context is used that did not make it
  std::atomic<int> context_events{0};  // that were made to wait for a context
  bool never_done = false;             // the work of the context does not end
  int looks_at_context = 0;
  std::atomic<int> plain_told{0};
  int sessions = 0;  // how often kernels were enabled
  int to_lose = 0;   // kernels, of this one
};

State& state() { return fathom::inside::never_freed<State>(); }

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<CUpti_TimestampCallbackFunc> clock_of_client{nullptr};

std::uint64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec);
}

std::uint64_t now() {
#ifdef __x86_64__
  if (std::getenv("CUPTI_FAKE_TSC") != nullptr) return __builtin_ia32_rdtsc();
#endif
  if (const CUpti_TimestampCallbackFunc read = clock_of_client) return read();
  return monotonic_ns() + kAhead;
}

/// 0 would be none.
std::uint32_t next_correlation() {
  static const bool begun = [] {
    const char* const said = std::getenv("CUPTI_FAKE_CORRELATION");
    if (said != nullptr) state().correlation = static_cast<std::uint32_t>(std::atoll(said));
    return true;
  }();
  static_cast<void>(begun);
  const std::uint32_t next = ++state().correlation;
  return next != 0 ? next : ++state().correlation;
}

bool refused(int kind) {
  const char* const said = std::getenv("CUPTI_FAKE_REFUSE");
  const std::string list = "," + std::string(said == nullptr ? "" : said) + ",";
  return list.find("," + std::to_string(kind) + ",") != std::string::npos;
}

std::size_t aligned(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// The k-th time that kernels are enabled, the first k of them have no record.
bool loses_first(CUpti_ActivityKind kind) {
  if (kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || state().to_lose == 0) return false;
  --state().to_lose;
  return true;
}

/// Into the buffer at hand; where it is there, or null. The lock is held.
void* write(const void* record, CUpti_ActivityKind kind, bool complete = true) {
  if (!state().enabled.contains(kind) || loses_first(kind)) return nullptr;
  return fathom::test::put_record(record, aligned(fathom::cuda::record_bytes(kind, fake_version())),
                                  complete);
}

void call(CUpti_CallbackId id, std::uint32_t correlation, std::uint64_t start, std::uint64_t end) {
  if (state().left_out.contains(id)) return;
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
// Numbers of the runtime's calls as real libraries name them (cupti_table.txt).
constexpr CUpti_CallbackId kGetDevice = 17;
constexpr CUpti_CallbackId kDeviceReset = 164;
constexpr CUpti_CallbackId kProfilerStart = 171;
constexpr CUpti_CallbackId kProfilerStop = 172;

/// Only of what the subscriber asked for.
void tell(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  State& s = state();
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard lock(s.heard_mutex);
    if (s.callback == nullptr || !s.heard.contains({domain, id})) return;
    callback = s.callback;
    user = s.user;
  }
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
    ++s.plain_told;
  callback(user, domain, id, &data);
}

void tell(CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_ApiCallbackSite site) {
  CUpti_CallbackData data{};
  data.callbackSite = site;
  tell(domain, id, data);
}

void tell_both(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  tell(domain, id, CUPTI_API_ENTER);
  tell(domain, id, CUPTI_API_EXIT);
}

/// Of the made-up GPU's events, ns.
std::int64_t& event_clock() {
  static std::int64_t time = 0;
  return time;
}

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
/// Of a thread: what it may call while another captures a graph, and its context. They take no
/// memory that a program that starves would lack.
[[gnu::tls_model("initial-exec")]] thread_local CUstreamCaptureMode capture_mode =
    CU_STREAM_CAPTURE_MODE_GLOBAL;
[[gnu::tls_model("initial-exec")]] thread_local CUcontext current_context = nullptr;
/// It is in a call that the recorder itself makes in a callback.
[[gnu::tls_model("initial-exec")]] thread_local bool in_own_call = false;
/// Of the launch that is under way.
std::atomic<CUstream> stream_of_launch{nullptr};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void unsafe(const char* call) {
  if (std::getenv("CUPTI_FAKE_CAPTURE") == nullptr) return;
  if (capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED)
    broken(std::string(call) + " spoilt the capture of another thread's graph");
}

/// What events hold that hold no time.
constexpr std::int64_t kOfContext = -2;
constexpr std::int64_t kDestroyed = -3;

/// The first look at a context comes too early, and each where its work does not end.
CUresult look_at_context() {
  constexpr int kTooMany = 5000;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (++s.looks_at_context > kTooMany) broken("a context was waited for without a limit");
  if (s.never_done || s.looks_at_context == 1) return CUDA_ERROR_NOT_READY;
  for (void* const place : std::exchange(s.queued, {})) {
    auto& kernel = *static_cast<fathom::cuda::KernelRecord*>(place);
    kernel.start = now();
    kernel.end = kernel.start + 5000;
    fathom::test::complete_record(place);
  }
  fathom::test::settle_records();
  return CUDA_SUCCESS;
}

void launch(CUpti_CallbackId id, CUstream stream, int rounds) {
  static int context = 0;
  current_context = reinterpret_cast<CUcontext>(&context);
  stream_of_launch = stream;
  for (int i = 0; i < rounds; ++i) {
    CUstream const named = stream == CU_STREAM_PER_THREAD ? nullptr : stream;
    cuLaunchKernel_params parameters{};
    parameters.hStream = named;
    cuLaunchKernelEx_params extended{};
    cuLaunchCooperativeKernel_params cooperative{};
    cooperative.hStream = named;
    cuGraphLaunch_params graph{};
    graph.hStream = named;
    CUpti_CallbackData data{};
    data.functionParams = &parameters;
    data.symbolName = "_Z3addPfS_i";
    data.contextUid = 1;
    switch (id) {
      case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
        data.functionParams = &extended;
        break;
      case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
        data.functionParams = &cooperative;
        break;
      case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
      case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
        data.functionParams = &graph;
        // A symbol is of kernels only: of other calls it may be anything.
        data.symbolName = "of another call";
        break;
      default:
        break;
    }
    data.correlationId = next_correlation();
    for (const CUpti_ApiCallbackSite site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
      data.callbackSite = site;
      tell(CUPTI_CB_DOMAIN_DRIVER_API, id, data);
      // As long as the kernel runs.
      if (site == CUPTI_API_ENTER) event_clock() += 5000;
    }
  }
}

CUstream a_stream() {
  static int stream = 0;
  return reinterpret_cast<CUstream>(&stream);
}

CUcontext own_context() {
  static int context = 0;
  return reinterpret_cast<CUcontext>(&context);
}

/// What the GPU has not handed over yet is gone with its context.
void end_context(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  cuCtxDestroy_v2_params named{own_context()};
  cuDevicePrimaryCtxReset_v2_params of_device{0};
  CUpti_CallbackData data{};
  const bool primary = domain == CUPTI_CB_DOMAIN_DRIVER_API &&
                       id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2;
  data.functionParams = primary ? static_cast<void*>(&of_device) : &named;
  data.callbackSite = CUPTI_API_ENTER;
  // The thread need not be in the context that it destroys.
  current_context = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? own_context() : nullptr;
  tell(domain, id, data);
  if (state().retained != 0) broken("a primary context was retained and not released");
  if (state().context_events != 0) broken("an event of a context that ends was not destroyed");
  {
    const std::lock_guard lock(state().mutex);
    fathom::test::forget_records();
  }
  data.callbackSite = CUPTI_API_EXIT;
  tell(domain, id, data);
}

/// Enters what the other client's buffers hold: anything.
void dirty_request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  constexpr std::size_t kSize = 1 << 16;
  constexpr int kAnything = 0xAA;
  *buffer = static_cast<std::uint8_t*>(std::malloc(kSize));
  std::memset(*buffer, kAnything, kSize);
  *size = kSize;
  *most = 0;
}

void dirty_complete(CUcontext /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                    std::size_t /*size*/, std::size_t /*valid*/) {
  std::free(buffer);
}

/// The lock is held.
void give_to_another() {
  fathom::test::flush_buffers(true);
  fathom::test::set_buffer_callbacks(dirty_request, dirty_complete);
  state().foreign = true;
}

/// CUPTI holds a lock while it calls, and while it switches off.
void callback_meanwhile() {
  constexpr int kLongest = 5000;
  constexpr useconds_t kPause = 1000;
  static std::atomic<bool> under_way{false};
  if (under_way.exchange(true)) return;
  const fathom::test::Fed fed;
  std::atomic<bool> returned{false};
  std::thread caller([&returned] {
    tell(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, CUPTI_API_ENTER);
    returned = true;
  });
  for (int look = 0; look < kLongest && !returned; ++look) usleep(kPause);
  if (!returned) broken("a callback waits for who waits for CUPTI");
  caller.join();
}

std::uint32_t gpus() {
  const char* const said = std::getenv("CUPTI_FAKE_GPUS");
  return said == nullptr ? 1 : static_cast<std::uint32_t>(std::atoi(said));
}

void write_device(std::uint32_t id) {
  fathom::cuda::DeviceRecord device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.name = "Fake GPU";
  device.id = id;
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

/// A part of the device, which the program makes for itself.
void write_green() {
#if CUPTI_API_VERSION >= 130200
  fathom::cuda::GreenRecord green{};
  green.kind = CUPTI_ACTIVITY_KIND_GREEN_CONTEXT;
  green.contextId = 5;
  green.parentContextId = 1;
  green.numMultiprocessors = 2;
  if (std::getenv("CUPTI_FAKE_GREEN") != nullptr) write(&green, green.kind);
#endif
}

/// The lock is held.
CUptiResult enabled(CUpti_ActivityKind kind) {
  if (refused(kind)) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (fathom::cuda::record_bytes(kind, fake_version()) == 0) return CUPTI_ERROR_INVALID_KIND;
  if (!fathom::test::has_buffer_callbacks())
    broken("a kind of activity was enabled before there were callbacks for buffers");
  const bool begins = state().enabled.insert(kind).second;
  if (begins && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    ++state().sessions;
    if (std::getenv("CUPTI_FAKE_FIRST") != nullptr) state().to_lose = state().sessions;
  }
  // Whoever left some out before did so in vain.
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) state().left_out.clear();
  if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) state().graph_wholes = true;
  return CUPTI_SUCCESS;
}

/// What a libcupti asks a driver for first, as it stands in those of CUDA 11.8 to 13.5.
constexpr unsigned char kFirstTable[] = {0x7c, 0xb6, 0x3f, 0x9b, 0x9c, 0xa4, 0x8e, 0x42,
                                         0xa4, 0x84, 0xbe, 0xb6, 0x6e, 0x6a, 0xed, 0x7f};

/// Where that of CUDA 13.2 does not start it calls itself until the stack is full.
void must_start() {
#ifdef FAKE_CUPTI_13_2
  const void* table = nullptr;
  CUuuid first{};
  std::memcpy(&first, kFirstTable, sizeof first);
  if (cuGetExportTable(&table, &first) != CUDA_SUCCESS)
    broken("CUPTI of CUDA 13.2 was called beside a driver that does not fit");
#endif
}

CUptiResult subscribed(CUpti_CallbackFunc callback, void* user) {
  State& s = state();
  const std::lock_guard lock(s.heard_mutex);
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
  static bool told = false;
  if (!told && !s.made_context && s.enabled.contains(CUPTI_ACTIVITY_KIND_DEVICE)) {
    told = true;
    for (std::uint32_t gpu = 0; gpu < gpus(); ++gpu) write_device(gpu);
    write_green();
  }
  for (int i = 0; i < rounds; ++i) {
    const std::uint64_t start = now();
    const std::uint32_t gpu = static_cast<std::uint32_t>(i) % gpus();
    const std::uint32_t copying = next_correlation();
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
    copy.deviceId = gpu;
    copy.contextId = 1 + gpu;
    copy.streamId = 7;
    copy.correlationId = copying;
    write(&copy, copy.kind);
    const std::uint32_t launching = next_correlation();
    call(kLaunch, launching, start + 1000, start + 2000);
    fathom::cuda::KernelRecord kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.name = "_Z3addPfS_i";
    kernel.start = start + 3000;
    kernel.end = start + 8000;
    kernel.deviceId = gpu;
    kernel.contextId = 1 + gpu;
    kernel.streamId = 7;
    kernel.gridX = 8;
    kernel.gridY = kernel.gridZ = 1;
    kernel.blockX = 128;
    kernel.blockY = kernel.blockZ = 1;
    kernel.registersPerThread = 32;
    kernel.dynamicSharedMemory = 512;
    kernel.correlationId = launching;
    write(&kernel, kernel.kind);
    const std::uint32_t waiting = next_correlation();
    call(kWait, waiting, start + 2000, start + 9000);
    fathom::cuda::WaitRecord wait{};
    wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    wait.start = start + 2500;
    wait.end = start + 8800;
    wait.correlationId = waiting;
    wait.contextId = 1 + gpu;
    wait.streamId = 7;
    wait.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    write(&wait, wait.kind);
  }
}

/// So many calls that take no time.
[[gnu::visibility("default")]] void fake_noise(int calls) {
  const std::lock_guard lock(state().mutex);
  for (int i = 0; i < calls; ++i) {
    const std::uint64_t start = now();
    call(kGetDevice, next_correlation(), start, start + 1);
  }
}

/// So many launches of a graph of two kernels. Once wholes were asked for there are no nodes.
[[gnu::visibility("default")]] void fake_graph(int launches) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (int i = 0; i < launches; ++i) {
    const std::uint64_t start = now();
    const std::uint32_t launching = next_correlation();
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

/// A host function in a stream.
[[gnu::visibility("default")]] void fake_host_function() {
#if CUPTI_API_VERSION >= 130100
  const std::lock_guard lock(state().mutex);
  const std::uint64_t start = now();
  CUpti_ActivityHostLaunch record{};
  record.kind = CUPTI_ACTIVITY_KIND_HOST_LAUNCH;
  record.start = start;
  record.end = start + 4000;
  record.correlationId = next_correlation();
  write(&record, record.kind);
#endif
}

/// From now on whoever waits for the context waits in vain.
[[gnu::visibility("default")]] void fake_never_done() {
  const std::lock_guard lock(state().mutex);
  state().never_done = true;
}

/// Kernels that have not begun, behind others: before their context is waited for they have no
/// times.
[[gnu::visibility("default")]] void fake_queue(int kernels) {
  const std::lock_guard lock(state().mutex);
  for (int i = 0; i < kernels; ++i) {
    const std::uint64_t start = now();
    const std::uint32_t launching = next_correlation();
    call(kLaunch, launching, start, start + 1000);
    fathom::cuda::KernelRecord kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.name = "_Z6queuedv";
    kernel.contextId = 1;
    kernel.streamId = 7;
    kernel.correlationId = launching;
    if (void* const place = write(&kernel, kernel.kind, false)) state().queued.push_back(place);
  }
}

/// The context was made, and with it the device, before anybody listened.
[[gnu::visibility("default")]] void fake_make_context() { state().made_context = true; }

/// The program has made a context.
[[gnu::visibility("default")]] void fake_context_made() {
  State& s = state();
  CUpti_ResourceData data{};
  data.context = own_context();
  {
    const std::lock_guard lock(s.heard_mutex);
    if (s.callback == nullptr ||
        !s.heard.contains({CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED}))
      return;
  }
  s.callback(s.user, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
}

/// CUPTI ends itself after it has returned what it had.
[[gnu::visibility("default")]] void fake_fatal_error() {
  State& s = state();
  {
    const std::lock_guard lock(s.mutex);
    fathom::test::flush_buffers(true);
    s.enabled.clear();
  }
  fathom::test::end_cupti();
  CUpti_StateData data{};
  data.notification.result = CUPTI_ERROR_UNKNOWN;
  {
    const std::lock_guard lock(s.heard_mutex);
    if (s.callback == nullptr ||
        !s.heard.contains({CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR}))
      return;
  }
  s.callback(s.user, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
}

/// A kernel that has begun and does not end, before fake_end_kernel().
[[gnu::visibility("default")]] void fake_endless_kernel() {
  const std::lock_guard lock(state().mutex);
  const std::uint64_t start = now();
  const std::uint32_t launching = next_correlation();
  call(kLaunch, launching, start, start + 1000);
  fathom::cuda::KernelRecord kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.name = "_Z7endlessv";
  kernel.start = start + 2000;
  kernel.contextId = 1;
  kernel.streamId = 7;
  kernel.correlationId = launching;
  state().running = write(&kernel, kernel.kind, false);
}

[[gnu::visibility("default")]] void fake_end_kernel() {
  const std::lock_guard lock(state().mutex);
  void* const place = std::exchange(state().running, nullptr);
  if (place == nullptr) return;
  static_cast<fathom::cuda::KernelRecord*>(place)->end = now() + 5000;
  fathom::test::complete_record(place);
}

/// The profiler of PyTorch asks for CUPTI: its answer.
[[gnu::visibility("default")]] int fake_kineto_subscribes() {
  CUpti_SubscriberHandle none = nullptr;
  return cuptiSubscribe(
      &none, [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}, nullptr);
}

/// It has got CUPTI, and records with buffers of its own.
[[gnu::visibility("default")]] void fake_kineto_records() {
  const std::lock_guard lock(state().mutex);
  give_to_another();
}

/// From torch 2.15 on it does without: callbacks for buffers and clocks are those of the last who
/// set them.
[[gnu::visibility("default")]] void fake_kineto_takes() {
  const std::lock_guard lock(state().mutex);
  give_to_another();
#ifdef __x86_64__
  clock_of_client = [] { return static_cast<std::uint64_t>(__builtin_ia32_rdtsc()); };
#endif
}

/// A clock that counts neither nanoseconds nor the processor's ticks.
[[gnu::visibility("default")]] void fake_sets_clock() {
  clock_of_client = [] {
    constexpr int kSlower = 3;
    return monotonic_ns() / kSlower;
  };
}

/// When its window ends it disables all kinds, for all.
[[gnu::visibility("default")]] void fake_kineto_ends() {
  const std::lock_guard lock(state().mutex);
  state().enabled.clear();
}

/// Who takes the buffers gives them back unread.
[[gnu::visibility("default")]] void fake_unread() {
  constexpr std::size_t kSize = 1 << 16;
  const auto request = [](std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
    *buffer = static_cast<std::uint8_t*>(std::calloc(1, kSize));
    *size = kSize;
    *most = 0;
  };
  const std::lock_guard lock(state().mutex);
  fathom::test::flush_buffers(true);
  fathom::test::set_buffer_callbacks(request, dirty_complete);
}

/// How often buffers of another client were flushed by ours.
[[gnu::visibility("default")]] int fake_foreign_flushes() { return state().foreign_flushes; }

[[gnu::visibility("default")]] int fake_clock_readings() { return state().readings; }

[[gnu::visibility("default")]] int fake_buffers() {
  const std::lock_guard lock(state().mutex);
  return static_cast<int>(fathom::test::different_buffers());
}

[[gnu::visibility("default")]] void fake_wait_for_deliveries() {
  fathom::test::wait_for_deliveries();
}

/// Whether kernels would be recorded now.
[[gnu::visibility("default")]] int fake_recording() {
  const std::lock_guard lock(state().mutex);
  return state().enabled.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ? 1 : 0;
}

/// Launches as the driver does, and tells the subscriber before and after.
[[gnu::visibility("default")]] void fake_launch(int rounds) {
  launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, nullptr, rounds);
}

/// Of a program whose null stream is the thread's.
[[gnu::visibility("default")]] void fake_launch_ptsz(int rounds) {
  launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, CU_STREAM_PER_THREAD, rounds);
}

/// So often in a stream, and so often in the thread's.
[[gnu::visibility("default")]] void fake_launch_cooperative(int rounds) {
  launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, a_stream(), rounds);
  launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, CU_STREAM_PER_THREAD, rounds);
}

[[gnu::visibility("default")]] void fake_launch_graph(int rounds) {
  launch(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, a_stream(), rounds);
  launch(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, CU_STREAM_PER_THREAD, rounds);
}

/// How many plain launches the recorder heard of.
[[gnu::visibility("default")]] int fake_plain_launches_told() { return state().plain_told; }

/// By the call that the recorder hears of in each program.
[[gnu::visibility("default")]] void fake_launch_ex(int rounds) {
  launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, nullptr, rounds);
}

[[gnu::visibility("default")]] void fake_profiler_start() {
  tell_both(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
}

[[gnu::visibility("default")]] void fake_profiler_stop() {
  tell_both(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
}

/// The runtime's, which do not come to the driver.
[[gnu::visibility("default")]] void fake_runtime_profiler_start() {
  tell_both(CUPTI_CB_DOMAIN_RUNTIME_API, kProfilerStart);
}

[[gnu::visibility("default")]] void fake_runtime_profiler_stop() {
  tell_both(CUPTI_CB_DOMAIN_RUNTIME_API, kProfilerStop);
}

[[gnu::visibility("default")]] void fake_device_reset() {
  end_context(CUPTI_CB_DOMAIN_RUNTIME_API, kDeviceReset);
}

[[gnu::visibility("default")]] void fake_context_destroy() {
  end_context(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2);
}

/// By a thread that has no context.
[[gnu::visibility("default")]] void fake_primary_reset() {
  end_context(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2);
}

/// Of one of its users: what it had to do is done.
[[gnu::visibility("default")]] void fake_context_release() {
  {
    const std::lock_guard lock(state().mutex);
    fathom::test::settle_records();
  }
  end_context(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2);
}

/// Until what was written so far was asked for, and the next time too: then it is in the file.
[[gnu::visibility("default")]] void fake_wait_for_flush() {
  const int until = state().flushes + 2;
  while (state().flushes < until) usleep(1000);
}

// What the driver does: an event holds the time at which it was recorded.

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  std::swap(*mode, capture_mode);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current_context;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  current_context = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  *context = std::exchange(current_context, nullptr);
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  constexpr int kOf12 = 12080;
  constexpr int kOf13 = 13000;
  const char* const said = std::getenv("CUPTI_FAKE_DRIVER");
  *version = said != nullptr ? std::atoi(said) : fake_version() < 130000 ? kOf12 : kOf13;
  return CUDA_SUCCESS;
}
/// Drivers of CUDA 12 have the first table, too; it begins with its length.
OF_ANY_TYPE CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  static const std::uint64_t first = sizeof first;
  *table = nullptr;
  if (std::getenv("CUPTI_FAKE_STUB") != nullptr ||
      std::memcmp(id, kFirstTable, sizeof kFirstTable) != 0)
    return CUDA_ERROR_NOT_FOUND;
  *table = &first;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (device < 0) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice /*device*/) {
  ++state().retained;
  *context = own_context();
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice /*device*/) {
  // Whoever calls the driver in a callback is called for that, too.
  in_own_call = true;
  tell_both(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2);
  in_own_call = false;
  --state().retained;
  return CUDA_SUCCESS;
}
/// Who ends a context may have work that never ends.
CUresult cuCtxSynchronize() {
  unsafe("cuCtxSynchronize");
  broken("a context was waited for without a limit");
}
/// Of all streams of a context, of which there is one with work that ends.
[[gnu::visibility("default")]] CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  unsafe("cuCtxRecordEvent");
  if (current_context == nullptr || context != current_context) return CUDA_ERROR_INVALID_CONTEXT;
  *reinterpret_cast<std::int64_t*>(event) = kOfContext;
  ++state().context_events;
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned /*flags*/) {
  unsafe("cuEventCreate");
  const fathom::test::Fed fed;
  auto& events = fathom::inside::never_freed<std::deque<std::int64_t>>();
  *event = reinterpret_cast<CUevent>(&events.emplace_back(-1));
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  unsafe("cuEventRecord");
  if (stream != stream_of_launch) broken("an event was recorded in another stream");
  *reinterpret_cast<std::int64_t*>(event) = event_clock();
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
  unsafe("cuEventQuery");
  return *reinterpret_cast<std::int64_t*>(event) == kOfContext ? look_at_context() : CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  unsafe("cuEventDestroy");
  const std::int64_t held = std::exchange(*reinterpret_cast<std::int64_t*>(event), kDestroyed);
  if (held == kDestroyed) broken("an event was destroyed twice");
  if (held == kOfContext) --state().context_events;
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent /*event*/) {
  unsafe("cuEventSynchronize");
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream /*stream*/, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

#undef cuEventElapsedTime
// NOLINTNEXTLINE(readability-identifier-naming): the driver's
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  if (current_context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *milliseconds = static_cast<float>(static_cast<double>(*reinterpret_cast<std::int64_t*>(end) -
                                                         *reinterpret_cast<std::int64_t*>(begin)) *
                                     1e-6);
  return CUDA_SUCCESS;
}

// What CUPTI does.

OF_ANY_TYPE CUptiResult cuptiGetVersion(uint32_t* api) {
  must_start();
  if (const char* const ends = std::getenv("CUPTI_FAKE_ENDS")) {
    constexpr int kCode = 5;
    if (std::atoi(ends) == 0) _exit(kCode);
    raise(std::atoi(ends));
  }
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
  {
    const std::lock_guard lock(s.heard_mutex);
    s.subscribed = false;
    s.callback = nullptr;
  }
  return called("cuptiUnsubscribe");
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle /*subscriber*/,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  State& s = state();
  {
    const std::lock_guard lock(s.heard_mutex);
    if (!s.subscribed) broken("cuptiEnableCallback without a subscriber");
  }
  const fathom::test::Fed fed;
  const std::string one =
      "cuptiEnableCallback/" + std::to_string(domain) + "/" + std::to_string(id);
  for (const std::string_view function :
       {std::string_view("cuptiEnableCallback"), std::string_view(one)})
    if (const CUptiResult result = called(function); result != CUPTI_SUCCESS) return result;
  const std::lock_guard lock(s.heard_mutex);
  if (enable != 0) {
    s.heard.insert({domain, id});
  } else {
    s.heard.erase({domain, id});
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  if (const CUptiResult result = called("cuptiActivityRegisterCallbacks"); result != CUPTI_SUCCESS)
    return result;
  // The two versions of the interface exclude each other.
  if (std::getenv("CUPTI_FAKE_V2") != nullptr) return CUPTI_ERROR_NOT_COMPATIBLE;
  fathom::test::set_buffer_callbacks(request, complete);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t* size,
                                      void* value) {
  if (const CUptiResult result = called("cuptiActivitySetAttribute"); result != CUPTI_SUCCESS)
    return result;
  if (attribute != CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER) return CUPTI_SUCCESS;
  if (*size != 1) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  const std::lock_guard lock(state().mutex);
  fathom::test::expect_zeros(*static_cast<std::uint8_t*>(value) != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (type != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) broken("threads are not the system's");
  return called("cuptiSetThreadIdType");
}

/// From CUDA 12.5 on.
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId /*id*/, uint8_t /*enable*/) {
  constexpr std::uint32_t kSince = 23;
  if (const CUptiResult result = called("cuptiActivityEnableDriverApi"); result != CUPTI_SUCCESS)
    return result;
  return fake_version() < kSince ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
}

/// From CUDA 12.5 on.
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t enable) {
  constexpr std::uint32_t kSince = 23;
  if (const CUptiResult result = called("cuptiActivityEnableRuntimeApi"); result != CUPTI_SUCCESS)
    return result;
  if (fake_version() < kSince) return CUPTI_ERROR_NOT_SUPPORTED;
  const fathom::test::Fed fed;
  const std::lock_guard lock(state().mutex);
  if (enable == 0) {
    state().left_out.insert(id);
  } else {
    state().left_out.erase(id);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const fathom::test::Fed fed;
  if (const CUptiResult result = called("cuptiActivityEnable"); result != CUPTI_SUCCESS)
    return result;
  const std::lock_guard lock(state().mutex);
  return enabled(kind);
}

/// Also reports devices and contexts that are there already.
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  if (const CUptiResult result = called("cuptiActivityEnableAndDump"); result != CUPTI_SUCCESS)
    return result;
  const fathom::test::Fed fed;
  const std::lock_guard lock(state().mutex);
  if (const CUptiResult result = enabled(kind); result != CUPTI_SUCCESS) return result;
  if (!state().made_context) return CUPTI_SUCCESS;
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) write_device(0);
  if (kind == CUPTI_ACTIVITY_KIND_CONTEXT) {
    fathom::cuda::ContextRecord context{};
    context.kind = kind;
    context.contextId = 1;
    context.nullStreamId = 7;
    write(&context, kind);
  }
  if (kind == CUPTI_ACTIVITY_KIND_STREAM) {
    CUpti_ActivityStream stream{};
    stream.kind = kind;
    stream.contextId = 1;
    stream.streamId = 13;
    stream.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
    write(&stream, kind);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  if (const CUptiResult result = called("cuptiActivityDisable"); result != CUPTI_SUCCESS)
    return result;
  if (std::getenv("CUPTI_FAKE_MEANWHILE") != nullptr) callback_meanwhile();
  const std::lock_guard lock(state().mutex);
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && fake_version() < 130100 &&
      state().enabled.contains(kind))
    broken("kernels were disabled, which may hang up to CUDA 13.0");
  state().enabled.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  if (in_own_call) broken("a call of the recorder's own was taken for one of the program's");
  const CUptiResult result = called("cuptiActivityFlushAll");
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.foreign) ++s.foreign_flushes;
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

/// From CUDA 13.2 on.
[[gnu::visibility("default")]] CUptiResult cuptiActivityGetStructSize(CUpti_ActivityKind kind,
                                                                      uint32_t /*version*/,
                                                                      size_t* size) {
  constexpr std::uint32_t kSince = 130200;
  if (fake_version() < kSince)
    broken("a library was asked for sizes of records that cannot say them");
  const CUptiResult result = called("cuptiActivityGetStructSize");
  if (result != CUPTI_SUCCESS) return result;
  const char* const shorter = std::getenv("CUPTI_FAKE_SHORTER");
  *size = fathom::cuda::record_bytes(kind, fake_version());
  if (shorter != nullptr && std::atoi(shorter) == static_cast<int>(kind)) *size -= 8;
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

#ifndef FAKE_CUPTI_13_2
/// From CUDA 13.3 on; we only look whether it is there.
[[gnu::visibility("default")]] CUptiResult cuptiGetTimestamp_v2(
    CUpti_SubscriberHandle /*subscriber*/, uint64_t* /*timestamp*/) {
  broken("a function of several subscribers was called");
}
#endif

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  ++state().readings;
  *timestamp = now();
  return called("cuptiGetTimestamp");
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain /*domain*/, uint32_t id, const char** name) {
  *name = id == kLaunch        ? "cudaLaunchKernel_v7000"
          : id == kCopy        ? "cudaMemcpyAsync_v3020"
          : id == kWait        ? "cudaStreamSynchronize_v3020"
          : id == kGraphLaunch ? "cudaGraphLaunch_v10000"
          : id == kGetDevice   ? "cudaGetDevice_v3020"
                               : nullptr;
  if (const CUptiResult result = called("cuptiGetCallbackName"); result != CUPTI_SUCCESS)
    return result;
  return *name == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  must_start();
  if (const CUptiResult answer = called("cuptiGetResultString"); answer != CUPTI_SUCCESS)
    return answer;
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
              ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
              : nullptr;
  return *text == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

}  // extern "C"

// A fake libcuda.so.1 with one device, whose time goes on only by what is launched. For tests.
//
// fake_launch() takes a time on the device, longer where L2 was written over since the launch
// before. Writing a buffer takes a millisecond, so that no window can hold it unseen. What the host
// takes for a launch, fake_host_time() says: the device waits for it, unless the stream is held.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

constexpr int kInvalidContext = 201;
constexpr int kOutOfMemory = 2;
constexpr int kLaunchFailed = 719;
constexpr int kL2Attribute = 38;
constexpr std::int64_t kFillTime = 1'000'000;

struct Event {
  std::int64_t time = 0;
  std::uint64_t stream = 0;
};

struct State {
  std::int64_t clock = 0;      // of the device, in nanoseconds
  std::int64_t host = 0;       // of the program
  std::int64_t host_time = 0;  // of a launch
  std::uint32_t* word = nullptr;
  std::uint32_t turn = 0;  // for which the stream waits until the word has it
  int gate_code = 0;       // that holding a stream fails with
  bool context = true;
  bool cold = false;
  bool failed = false;  // as after a kernel that wrote out of bounds
  int l2_bytes = 4096;
  std::int64_t fills = 0;
  std::int64_t filled_bytes = 0;  // by the last
  std::int64_t settled = 0;
  std::int64_t events = 0;  // that live
  std::int64_t buffers = 0;
  std::int64_t records = 0;
  std::uint64_t last_stream = 0;
};

State& state() {
  static State only;
  return only;
}

bool held() {
  return state().word != nullptr && std::atomic_ref(*state().word).load() < state().turn;
}

/// What is queued from now on begins no earlier than the host asked for it.
void follow_host() {
  if (!held()) state().clock = std::max(state().clock, state().host);
}

int status() { return state().failed ? kLaunchFailed : state().context ? 0 : kInvalidContext; }

}  // namespace

// The driver's names, and those of tests.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

void fake_launch(std::int64_t warm_ns, std::int64_t cold_ns) {
  state().host += state().host_time;
  follow_host();
  state().clock += state().cold ? cold_ns : warm_ns;
  state().cold = false;
}
void fake_host_time(std::int64_t launch_ns) { state().host_time = launch_ns; }
void fake_gate(int code) { state().gate_code = code; }
void fake_context(int current) { state().context = current != 0; }
void fake_failure(int failed) { state().failed = failed != 0; }
void fake_l2(int bytes) { state().l2_bytes = bytes; }
std::int64_t fake_fills() { return state().fills; }
std::int64_t fake_filled_bytes() { return state().filled_bytes; }
std::int64_t fake_settled() { return state().settled; }
std::int64_t fake_live() { return state().events + state().buffers; }
std::int64_t fake_records() { return state().records; }
std::uint64_t fake_stream() { return state().last_stream; }

int cuCtxGetCurrent(void** context) {
  static char only = 0;
  *context = state().context ? &only : nullptr;
  return 0;
}
int cuCtxGetDevice(int* device) {
  *device = 0;
  return state().context ? 0 : kInvalidContext;
}
/// Waits as a device does that nothing reaches.
int cuCtxSynchronize() {
  while (held()) std::this_thread::yield();
  state().host = std::max(state().host, state().clock);
  ++state().settled;
  return status();
}
int cuDeviceGetName(char* name, int length, int /*device*/) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
  return 0;
}
/// As the fake of NVML calls its first.
int cuDeviceGetUuid_v2(std::array<unsigned char, 16>* bytes, int /*device*/) {
  bytes->fill(0);
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 12080;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int /*device*/) {
  *value = attribute == kL2Attribute ? state().l2_bytes : 0;
  return 0;
}
int cuEventCreate(void** event, unsigned /*flags*/) {
  *event = new Event;
  ++state().events;
  return status();
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  --state().events;
  return 0;
}
int cuEventRecord(void* event, void* stream) {
  auto& recorded = *static_cast<Event*>(event);
  follow_host();
  recorded.time = state().clock;
  state().last_stream = reinterpret_cast<std::uint64_t>(stream);
  ++state().records;
  return status();
}
int cuEventSynchronize(void* /*event*/) {
  state().host = std::max(state().host, state().clock);
  return status();
}
int cuMemHostAlloc(void** address, std::size_t bytes, unsigned /*flags*/) {
  *address = std::calloc(1, bytes);
  state().word = static_cast<std::uint32_t*>(*address);
  state().turn = 0;
  ++state().buffers;
  return status();
}
int cuMemFreeHost(void* address) {
  state().word = nullptr;
  std::free(address);
  --state().buffers;
  return 0;
}
int cuMemHostGetDevicePointer_v2(std::uint64_t* device, void* address, unsigned /*flags*/) {
  *device = reinterpret_cast<std::uint64_t>(address);
  return 0;
}
int cuStreamWaitValue32_v2(void* /*stream*/, std::uint64_t address, std::uint32_t value,
                           unsigned /*flags*/) {
  if (address != reinterpret_cast<std::uint64_t>(state().word)) return kLaunchFailed;
  state().turn = value;
  return state().gate_code;
}
int cuEventElapsedTime_v2(float* milliseconds, void* begin, void* end) {
  *milliseconds = static_cast<float>(
      static_cast<double>(static_cast<Event*>(end)->time - static_cast<Event*>(begin)->time) *
      1e-6);
  return status();
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  if (bytes > std::size_t{1} << 30U) return kOutOfMemory;
  *address = 0x1000;
  ++state().buffers;
  return status();
}
int cuMemFree_v2(std::uint64_t /*address*/) {
  --state().buffers;
  return 0;
}
int cuMemsetD32Async(std::uint64_t /*address*/, unsigned /*value*/, std::size_t count,
                     void* /*stream*/) {
  state().clock += kFillTime;
  state().cold = true;
  ++state().fills;
  state().filled_bytes = static_cast<std::int64_t>(4 * count);
  return status();
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

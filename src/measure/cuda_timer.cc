// Calls the CUDA driver by addresses that the loader has; prototypes are cuda.h's.
#include "measure/cuda_timer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include "capture/cuda/device_time.h"

namespace fathom::measure {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr int kL2CacheSize = 38;             // CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
constexpr unsigned kHostWordForDevices = 3;  // CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP
constexpr unsigned kAtLeast = 0;             // CU_STREAM_WAIT_VALUE_GEQ
constexpr Duration kLeastBlock = std::chrono::microseconds(50);
constexpr Duration kEventResolution = std::chrono::nanoseconds(500);
/// Queued on the device before it is waited for; the driver holds some 1000 launches.
constexpr std::size_t kMostQueued = 256;
constexpr std::size_t kMostWarm = 100'000;
/// Each of which is waited for, and what CUPTI has of it.
constexpr std::size_t kMostColdReadings = 16;
/// So that the records of a block do not fill the recorder's memory.
constexpr std::size_t kMostRecorded = 10'000;

using Event = void*;
using Stream = void*;
using Context = void*;

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::string uuid_text(const std::array<unsigned char, 16>& bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kHex[bytes[i] >> 4U];
    text += kHex[bytes[i] & 15U];
  }
  return text;
}

}  // namespace

struct CudaDevice::Api {
  int (*current)(Context*) = nullptr;
  int (*device)(int*) = nullptr;
  int (*settle)() = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*uuid)(std::array<unsigned char, 16>*, int) = nullptr;
  int (*version)(int*) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*create)(Event*, unsigned) = nullptr;
  int (*destroy)(Event) = nullptr;
  int (*record)(Event, Stream) = nullptr;
  int (*wait)(Event) = nullptr;
  int (*elapsed)(float*, Event, Event) = nullptr;
  int (*allocate)(std::uint64_t*, std::size_t) = nullptr;
  int (*free)(std::uint64_t) = nullptr;
  int (*fill)(std::uint64_t, unsigned, std::size_t, Stream) = nullptr;
  // For hidden launches alone.
  int (*host_allocate)(void**, std::size_t, unsigned) = nullptr;
  int (*host_free)(void*) = nullptr;
  int (*host_address)(std::uint64_t*, void*, unsigned) = nullptr;
  int (*wait_for_word)(Stream, std::uint64_t, std::uint32_t, unsigned) = nullptr;

  [[nodiscard]] bool find_gate(void* library) {
    if (!find(library, "cuStreamWaitValue32_v2", wait_for_word))  // of CUDA 11.7 and later
      find(library, "cuStreamWaitValue32", wait_for_word);
    return find(library, "cuMemHostAlloc", host_allocate) &&
           find(library, "cuMemFreeHost", host_free) &&
           find(library, "cuMemHostGetDevicePointer_v2", host_address) && wait_for_word != nullptr;
  }

  /// False where one is missing that nothing goes without.
  bool find_all(void* library) {
    if (!find(library, "cuDeviceGetUuid_v2", uuid)) find(library, "cuDeviceGetUuid", uuid);
    if (!find(library, "cuEventElapsedTime_v2", elapsed))  // of CUDA 12.8 and later
      find(library, "cuEventElapsedTime", elapsed);
    return find(library, "cuCtxGetCurrent", current) && find(library, "cuCtxGetDevice", device) &&
           find(library, "cuCtxSynchronize", settle) && find(library, "cuDeviceGetName", name) &&
           find(library, "cuDriverGetVersion", version) &&
           find(library, "cuDeviceGetAttribute", attribute) &&
           find(library, "cuEventCreate", create) && find(library, "cuEventDestroy_v2", destroy) &&
           find(library, "cuEventRecord", record) && find(library, "cuEventSynchronize", wait) &&
           find(library, "cuMemAlloc_v2", allocate) && find(library, "cuMemFree_v2", free) &&
           find(library, "cuMemsetD32Async", fill) && elapsed != nullptr;
  }
};

/// The buffer whose writing pushes all else out of L2.
class CudaDevice::Cooler {
 public:
  Cooler(std::shared_ptr<CudaDevice> device, L2 l2, std::uint64_t stream)
      : device_(std::move(device)),
        l2_(l2),
        // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle of the driver, as Python has it
        stream_(reinterpret_cast<Stream>(stream)) {}
  ~Cooler() {
    if (buffer_ != 0) device_->api_->free(buffer_);
  }
  Cooler(const Cooler&) = delete;
  Cooler& operator=(const Cooler&) = delete;

  Result<void> make_ready() {
    if (l2_ == L2::warm) return {};
    if (device_->l2_bytes_ <= 0)
      return Error{ErrorCode::unsupported, "the driver does not say how large L2 is: l2=\"warm\""};
    bytes_ = 2 * static_cast<std::size_t>(device_->l2_bytes_);
    if (device_->api_->allocate(&buffer_, bytes_) == 0) return {};
    buffer_ = 0;
    return Error{ErrorCode::io, "the device has no " + std::to_string(bytes_) +
                                    " bytes left, with which L2 is made cold: l2=\"warm\""};
  }

  /// Windows of so many calls: each has its own where L2 is made cold before it.
  [[nodiscard]] std::size_t windows(std::size_t calls) const { return l2_ == L2::cold ? calls : 1; }
  [[nodiscard]] Stream stream() const { return stream_; }
  /// Nothing where L2 is to be left as it is.
  bool cool() {
    return l2_ == L2::warm ||
           device_->ok(device_->api_->fill(buffer_, 0, bytes_ / 4, stream_), "cuMemsetD32Async");
  }

 private:
  std::shared_ptr<CudaDevice> device_;
  L2 l2_;
  Stream stream_;
  std::uint64_t buffer_ = 0;
  std::size_t bytes_ = 0;
};

/// Lets a stream go on only when all that a window holds is queued. A thread of its own opens it
/// where that never comes, so that nothing hangs.
class CudaDevice::Gate {
 public:
  Gate(std::shared_ptr<CudaDevice> device, Stream stream, Duration patience)
      : device_(std::move(device)), stream_(stream), patience_(patience) {}
  ~Gate() {
    if (watch_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        release();
        ended_ = true;
      }
      end_.notify_one();
      watch_.join();
    }
    // What waits on the stream reads the word.
    if (word_ != nullptr && device_->settle()) device_->api_->host_free(word_);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  Result<void> make_ready() {
    if (!device_->api_->find_gate(device_->library_))
      return Error{ErrorCode::unsupported, "the driver has no call that holds a stream"};
    void* word = nullptr;
    if (device_->api_->host_allocate(&word, sizeof(std::uint32_t), kHostWordForDevices) != 0)
      return Error{ErrorCode::io, "no memory of the host is left that the device can read"};
    word_ = static_cast<std::uint32_t*>(word);
    *word_ = 0;
    if (device_->api_->host_address(&address_, word_, 0) != 0)
      return Error{ErrorCode::unsupported, "the device cannot read memory of the host"};
    const int code = device_->api_->wait_for_word(stream_, address_, 0, kAtLeast);
    if (code != 0)
      return Error{ErrorCode::unsupported,
                   "the driver cannot hold a stream: cuStreamWaitValue32 "
                   "failed with code " +
                       std::to_string(code)};
    watch_ = std::thread([this] { watch(); });
    return {};
  }

  /// What is queued from now on waits for open().
  bool hold() {
    const std::lock_guard lock(mutex_);
    ++turn_;
    held_ = device_->ok(device_->api_->wait_for_word(stream_, address_, turn_, kAtLeast),
                        "cuStreamWaitValue32");
    return held_;
  }

  /// False where it was open before its time.
  bool open() {
    const std::lock_guard lock(mutex_);
    const bool in_time = held_;
    release();
    return in_time;
  }

 private:
  void release() {
    std::atomic_ref(*word_).store(turn_);
    held_ = false;
  }

  /// Looks now and then, so that holding and opening wake nobody.
  void watch() {
    std::unique_lock lock(mutex_);
    std::uint32_t seen = 0;
    while (!end_.wait_for(lock, patience_, [this] { return ended_; })) {
      if (held_ && turn_ == seen) release();
      seen = held_ ? turn_ : 0;
    }
  }

  std::shared_ptr<CudaDevice> device_;
  Stream stream_;
  Duration patience_;
  std::uint32_t* word_ = nullptr;
  std::uint64_t address_ = 0;  // of the word, as the device sees it
  std::mutex mutex_;           // for all below
  std::condition_variable end_;
  std::uint32_t turn_ = 0;
  bool held_ = false;
  bool ended_ = false;
  std::thread watch_;
};

class CudaDevice::Events {
 public:
  Events(std::shared_ptr<CudaDevice> device, L2 l2, std::uint64_t stream, const Launches& launches)
      : device_(device), cooler_(device, l2, stream) {
    if (launches.hidden)
      gate_ = std::make_unique<Gate>(std::move(device), cooler_.stream(), launches.patience);
  }
  ~Events() {
    for (Event event : events_) api().destroy(event);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  Result<void> make_ready() {
    if (gate_ != nullptr) {
      if (Result<void> ready = gate_->make_ready(); !ready) return ready;
    }
    return cooler_.make_ready();
  }

  std::optional<double> time(const Block& block, std::size_t calls) {
    const std::size_t pairs = cooler_.windows(calls);
    if (!have(2 * pairs)) return std::nullopt;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      if (!cooler_.cool() || !window(pair, block, calls / pairs)) return std::nullopt;
    }
    return sum(pairs);
  }

  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  [[nodiscard]] const Api& api() const { return *device_->api_; }

  bool window(std::size_t pair, const Block& block, std::size_t calls) {
    if (gate_ != nullptr && !gate_->hold()) return false;
    const bool done = record(2 * pair) && block(calls) && record(2 * pair + 1);
    if (gate_ == nullptr || gate_->open()) return done;
    if (done)
      error_ =
          "launches cannot be hidden: a call waits for the device, or launches more than the "
          "driver queues";
    return false;
  }
  bool ok(int code, const char* call) { return device_->ok(code, call); }

  bool record(std::size_t event) {
    return ok(api().record(events_[event], cooler_.stream()), "cuEventRecord");
  }

  bool have(std::size_t count) {
    while (events_.size() < count) {
      Event event = nullptr;
      if (!ok(api().create(&event, 0), "cuEventCreate")) return false;
      events_.push_back(event);
    }
    return true;
  }

  std::optional<double> sum(std::size_t pairs) {
    if (!ok(api().wait(events_[2 * pairs - 1]), "cuEventSynchronize")) return std::nullopt;
    double ns = 0;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      float milliseconds = 0;
      if (!ok(api().elapsed(&milliseconds, events_[2 * pair], events_[2 * pair + 1]),
              "cuEventElapsedTime"))
        return std::nullopt;
      ns += static_cast<double>(milliseconds) * 1e6;
    }
    return ns;
  }

  std::shared_ptr<CudaDevice> device_;
  Cooler cooler_;
  std::unique_ptr<Gate> gate_;  // null where launches are seen
  std::vector<Event> events_;
  std::string error_;
};

/// What the recorder in this process has of CUPTI, read before and after.
class CudaDevice::Activities {
 public:
  Activities(std::shared_ptr<CudaDevice> device, L2 l2, std::uint64_t stream)
      : device_(device), cooler_(std::move(device), l2, stream) {}
  ~Activities() {
    if (library_ != nullptr) dlclose(library_);
  }
  Activities(const Activities&) = delete;
  Activities& operator=(const Activities&) = delete;

  Result<void> make_ready() {
    const auto none = [](const char* why) { return Error{ErrorCode::unsupported, why}; };
    const char* const path = std::getenv("CUDA_INJECTION64_PATH");
    // Never loads it: it is the driver that does.
    if (path != nullptr) library_ = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (library_ == nullptr)
      return none(
          "no recorder is in this process: begin the program by `fathom run --cuda always`");
    if (!find(library_, cuda::kDeviceTimeName, read_))
      return none(
          "the library in CUDA_INJECTION64_PATH is no recorder of Fathom's that tells times");
    cuda::DeviceTime now;
    if (!read(now)) return Error{ErrorCode::unsupported, error_};
    return cooler_.make_ready();
  }

  std::optional<double> time(const Block& block, std::size_t calls) {
    const std::size_t windows = cooler_.windows(calls);
    double ns = 0;
    for (std::size_t window = 0; window < windows; ++window) {
      cuda::DeviceTime before;
      cuda::DeviceTime after;
      if (!cooler_.cool() || !read(before)) return std::nullopt;
      if (!block(calls / windows) || !read(after)) return std::nullopt;
      if (after.missed != before.missed) {
        error_ = "CUPTI's times of a block are not complete: " +
                 std::to_string(after.missed - before.missed) + " records are missing";
        return std::nullopt;
      }
      ns += static_cast<double>(after.ns - before.ns);
    }
    return ns;
  }

  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  bool read(cuda::DeviceTime& time) {
    if (!device_->settle()) {
      error_ = device_->error();
      return false;
    }
    const char* const why = read_(&time);
    if (why != nullptr) error_ = why;
    return why == nullptr;
  }

  std::shared_ptr<CudaDevice> device_;
  Cooler cooler_;
  void* library_ = nullptr;
  cuda::DeviceTimeFunction read_ = nullptr;
  std::string error_;
};

CudaDevice::CudaDevice(void* library, std::unique_ptr<Api> api)
    : library_(library), api_(std::move(api)) {}
CudaDevice::~CudaDevice() { dlclose(library_); }

Result<std::shared_ptr<CudaDevice>> CudaDevice::current() {
  const auto none = [](const char* why) { return Error{ErrorCode::unsupported, why}; };
  // Never loads it: whoever uses CUDA has it.
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return none("no driver of CUDA is loaded");
  std::shared_ptr<CudaDevice> device(new CudaDevice(library, std::make_unique<Api>()));
  Api& calls = *device->api_;
  if (!calls.find_all(library)) return none("the driver of CUDA lacks calls that are needed");
  Context context = nullptr;
  if (calls.current(&context) != 0 || context == nullptr)
    return none("no context of CUDA is current on this thread");
  int number = 0;
  if (!device->ok(calls.device(&number), "cuCtxGetDevice")) return none("cuCtxGetDevice failed");
  std::array<char, 256> name{};
  if (calls.name(name.data(), static_cast<int>(name.size() - 1), number) == 0)
    device->name_ = name.data();
  std::array<unsigned char, 16> bytes{};
  if (calls.uuid != nullptr && calls.uuid(&bytes, number) == 0) device->uuid_ = uuid_text(bytes);
  int value = 0;
  if (calls.version(&value) == 0)
    device->driver_version_ =
        std::to_string(value / 1000) + "." + std::to_string(value % 1000 / 10);
  if (calls.attribute(&value, kL2CacheSize, number) == 0) device->l2_bytes_ = value;
  return device;
}

bool CudaDevice::settle() { return ok(api_->settle(), "cuCtxSynchronize"); }

bool CudaDevice::ok(int code, const char* call) {
  if (code != 0 && error_.empty())
    error_ = std::string(call) + " failed with code " + std::to_string(code);
  return code == 0;
}

Result<BlockTimer> CudaDevice::event_timer(const std::shared_ptr<CudaDevice>& device, L2 l2,
                                           std::uint64_t stream, const Launches& launches) {
  const auto events = std::make_shared<Events>(device, l2, stream, launches);
  if (Result<void> ready = events->make_ready(); !ready) return std::move(ready).error();
  BlockTimer timer;
  timer.mode = "events";
  timer.clock = "events of CUDA " + device->driver_version_;
  timer.cost = kEventResolution;
  timer.least = kLeastBlock;
  timer.most_calls = l2 == L2::cold || launches.hidden ? kMostQueued : kMostWarm;
  timer.time = [events](const Block& block, std::size_t calls) {
    return events->time(block, calls);
  };
  timer.error = [events, device] {
    return events->error().empty() ? device->error() : events->error();
  };
  return timer;
}

Result<BlockTimer> CudaDevice::activity_timer(const std::shared_ptr<CudaDevice>& device, L2 l2,
                                              std::uint64_t stream) {
  const auto activities = std::make_shared<Activities>(device, l2, stream);
  if (Result<void> ready = activities->make_ready(); !ready) return std::move(ready).error();
  BlockTimer timer;
  timer.mode = "device";
  timer.clock = "times that CUPTI has of device activity";
  timer.least = kLeastBlock;
  timer.most_calls = l2 == L2::cold ? kMostColdReadings : kMostRecorded;
  timer.time = [activities](const Block& block, std::size_t calls) {
    return activities->time(block, calls);
  };
  timer.error = [activities, device] {
    return activities->error().empty() ? device->error() : activities->error();
  };
  return timer;
}

}  // namespace fathom::measure

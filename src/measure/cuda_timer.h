// Times work on a GPU by the driver's events, without linking or loading the driver.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "measure/block_timer.h"

namespace fathom::measure {

/// L2 before each call: written over outside of the timed window, or left as the call before left
/// it.
enum class L2 : std::uint8_t { cold, warm };

/// What launching costs the host: seen where the device waits for it, or hidden, for the device
/// begins when all is queued.
struct Launches {
  bool hidden = false;
  /// So long, or up to twice as long, calls may take to be queued. Longer is taken for a call that
  /// waits for the device, which then waits for the call: it goes on, and the block fails.
  Duration patience = std::chrono::seconds(10);
};

/// The device whose context is current on the calling thread, of the driver that the process has
/// loaded. For the thread that opened it.
class CudaDevice {
 public:
  /// Errors: unsupported, where no driver is loaded, no context is current, or a call is missing.
  static Result<std::shared_ptr<CudaDevice>> current();
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// As NVML writes it, "GPU-…"; empty where the driver does not say.
  [[nodiscard]] const std::string& uuid() const { return uuid_; }
  [[nodiscard]] const std::string& driver_version() const { return driver_version_; }
  [[nodiscard]] std::int64_t l2_bytes() const { return l2_bytes_; }

  /// Waits for all that was begun on the device. False where that failed, see error().
  bool settle();
  /// The first call of the driver that failed; empty where none did.
  [[nodiscard]] const std::string& error() const { return error_; }

  /// Between two events on `stream` (a CUstream; 0: the legacy default stream). Warm: one pair
  /// around all calls of a block. Cold: before each call a buffer of twice the L2 is written, and
  /// then a pair is put around the call; the sum counts. A block lasts at least 50 µs, as an event
  /// resolves 0.5 µs (CUDA C++ Programming Guide; cuEventElapsedTime). Hidden launches: before the
  /// first event of each pair the stream waits for a word of the host's memory
  /// (cuStreamWaitValue32), which is written once the second is queued; nvbench does so by a kernel
  /// (blocking_kernel.cuh). Errors: io, where there is no memory; unsupported, where cold is asked
  /// for and the size of L2 is not known, or the driver cannot hold a stream.
  static Result<BlockTimer> event_timer(const std::shared_ptr<CudaDevice>& device, L2 l2,
                                        std::uint64_t stream, const Launches& launches = {});
  /// The sum of what kernels, copies, fills and whole graphs of this process took on devices, as
  /// CUPTI tells the recorder that `fathom run` has put into it; what ran at the same time counts
  /// each for itself. The device is waited for before and after, and what writes over L2 on
  /// `stream` is not in the sum. A block whose records are not complete fails. Errors: unsupported,
  /// where no recorder is here or CUPTI is not its own; and those of event_timer().
  static Result<BlockTimer> activity_timer(const std::shared_ptr<CudaDevice>& device, L2 l2,
                                           std::uint64_t stream);

 private:
  struct Api;
  class Cooler;
  class Gate;
  class Events;
  class Activities;
  CudaDevice(void* library, std::unique_ptr<Api> api);
  bool ok(int code, const char* call);

  void* library_;
  std::unique_ptr<Api> api_;
  std::string name_;
  std::string uuid_;
  std::string driver_version_;
  std::string error_;
  std::int64_t l2_bytes_ = 0;
};

}  // namespace fathom::measure

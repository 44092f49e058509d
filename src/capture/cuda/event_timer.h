// EventTimer: kernels timed by CUDA events around their launches, where CUPTI's activity records
// are refused but its callbacks are not.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "capture/cuda/cupti.h"

namespace fathom::cuda {

/// The functions of the driver that it needs, as the process has loaded them.
struct EventFunctions {
  decltype(&::cuEventCreate) create = nullptr;
  decltype(&::cuEventRecord) record = nullptr;
  decltype(&::cuEventQuery) query = nullptr;
  decltype(&::cuEventSynchronize) synchronize = nullptr;
  decltype(&::cuEventElapsedTime) elapsed = nullptr;
  decltype(&::cuStreamIsCapturing) is_capturing = nullptr;
  // Of old drivers, null: what needs them is not done.
  decltype(&::cuThreadExchangeStreamCaptureMode) exchange_mode = nullptr;
  decltype(&::cuCtxGetCurrent) current = nullptr;
  decltype(&::cuCtxPushCurrent) push = nullptr;
  decltype(&::cuCtxPopCurrent) pop = nullptr;
  [[nodiscard]] bool complete() const;
};
/// Of the driver in this process.
EventFunctions event_functions();

/// A launch that is about to be made.
struct TimedLaunch {
  std::uint32_t context = 0;
  CUstream stream = nullptr;
  std::uint32_t correlation = 0;
  const char* name = nullptr;  ///< Null: none.
  bool graph = false;          ///< A whole graph, not a kernel.
};

/// A kernel, or a graph as a whole, as its two events saw it.
struct TimedKernel {
  std::int64_t start = 0;  ///< CLOCK_MONOTONIC, ns.
  std::int64_t duration = 0;
  std::uint32_t context = 0;
  std::uint64_t stream = 0;  ///< The program's handle.
  std::uint32_t correlation = 0;
  std::string name;
  bool graph = false;
};

/// Times include what lies between the events and the kernel, a few microseconds. begin() and end()
/// are called around each launch, in the thread that launches. Thread-safe. Another thread may
/// capture a graph meanwhile: what we call does not spoil it.
class EventTimer {
 public:
  explicit EventTimer(const EventFunctions& functions) : cuda_(functions) {}

  /// Launches while a stream is captured into a graph are not timed, nor more at once than kMost.
  void begin(const TimedLaunch& made) noexcept;
  void end(std::uint32_t correlation) noexcept;
  /// Kernels that have ended since the last call, in the order of their launches. Where it throws,
  /// for lack of memory, the next call has them.
  std::vector<TimedKernel> take();
  /// Launches that were not timed, since the last call.
  std::uint64_t take_missed();

  static constexpr std::size_t kMost = 4096;

 private:
  struct Launch {
    std::uint32_t context = 0;
    CUcontext handle = nullptr;  // of the context
    CUstream stream = nullptr;
    std::uint32_t correlation = 0;
    std::string name;
    bool graph = false;
    CUevent begin = nullptr;
    CUevent end = nullptr;
    bool launched = false;
  };
  /// An event whose time on the host is known.
  struct Anchor {
    CUevent event = nullptr;
    std::int64_t time = 0;
  };
  CUevent fresh(std::uint32_t context);
  bool anchor(std::uint32_t context, CUstream stream);
  bool launch(Launch& launch);
  void make_room(std::vector<TimedKernel>& ended);
  bool hand_over(Launch& launch, std::vector<TimedKernel>& ended);
  [[nodiscard]] bool measure(const Launch& launch, TimedKernel& kernel) const;
  CUevent move_anchor(const Launch& launch, const std::vector<TimedKernel>& ended);

  EventFunctions cuda_;
  std::mutex mutex_;
  std::map<std::uint32_t, Anchor> anchors_;             // of contexts
  std::map<std::uint32_t, std::vector<CUevent>> free_;  // of contexts
  std::deque<Launch> launches_;
  std::uint64_t missed_ = 0;
};

}  // namespace fathom::cuda

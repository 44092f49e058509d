// Times kernels by CUDA events around their launches.
#include "capture/cuda/event_timer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <time.h>

#include "capture/cuda/driver.h"

namespace fathom::cuda {
namespace {

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// While one lives, this thread may call what would otherwise end the capture of a graph that
/// another thread began for all threads.
class Relaxed {
 public:
  explicit Relaxed(const EventFunctions& cuda) : cuda_(cuda) { exchange(); }
  ~Relaxed() { exchange(); }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  void exchange() {
    if (cuda_.exchange_mode != nullptr) cuda_.exchange_mode(&mode_);
  }
  const EventFunctions& cuda_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// While one lives, a context is this thread's.
class Entered {
 public:
  Entered(const EventFunctions& cuda, CUcontext context) : cuda_(cuda) {
    const bool can = cuda.push != nullptr && cuda.pop != nullptr && context != nullptr;
    known_ = !can || cuda.push(context) == CUDA_SUCCESS;
    pushed_ = can && known_;
  }
  ~Entered() {
    CUcontext none = nullptr;
    if (pushed_) cuda_.pop(&none);
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  /// False for a context that is gone.
  [[nodiscard]] bool known() const { return known_; }

 private:
  const EventFunctions& cuda_;
  bool known_ = false;
  bool pushed_ = false;
};

}  // namespace

bool EventFunctions::complete() const {
  return create != nullptr && record != nullptr && query != nullptr && synchronize != nullptr &&
         elapsed != nullptr && is_capturing != nullptr;
}

EventFunctions event_functions() {
  EventFunctions all;
  find_in_driver("cuEventCreate", all.create);
  find_in_driver("cuEventRecord", all.record);
  find_in_driver("cuEventQuery", all.query);
  find_in_driver("cuEventSynchronize", all.synchronize);
  find_in_driver("cuEventElapsedTime_v2", all.elapsed);  // of CUDA 12.8 and later
  if (all.elapsed == nullptr) find_in_driver("cuEventElapsedTime", all.elapsed);
  find_in_driver("cuStreamIsCapturing", all.is_capturing);
  find_in_driver("cuThreadExchangeStreamCaptureMode", all.exchange_mode);
  find_in_driver("cuCtxGetCurrent", all.current);
  find_in_driver("cuCtxPushCurrent_v2", all.push);
  find_in_driver("cuCtxPopCurrent_v2", all.pop);
  return all;
}

/// Null where there is none. The lock is held, as below.
CUevent EventTimer::fresh(std::uint32_t context) {
  std::vector<CUevent>& free = free_[context];
  CUevent event = nullptr;
  if (free.empty()) return cuda_.create(&event, CU_EVENT_DEFAULT) == CUDA_SUCCESS ? event : nullptr;
  event = free.back();
  free.pop_back();
  return event;
}

/// Once in each context its first stream is waited for, to know when an event happened.
bool EventTimer::anchor(std::uint32_t context, CUstream stream) {
  Anchor& known = anchors_[context];
  if (known.event != nullptr) return true;
  const CUevent event = fresh(context);
  if (event == nullptr || cuda_.record(event, stream) != CUDA_SUCCESS ||
      cuda_.synchronize(event) != CUDA_SUCCESS)
    return false;
  known = {event, now()};
  return true;
}

/// Whether it is timed.
bool EventTimer::launch(Launch& launch) {
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  const bool can =
      launches_.size() < kMost && cuda_.is_capturing(launch.stream, &capturing) == CUDA_SUCCESS &&
      capturing == CU_STREAM_CAPTURE_STATUS_NONE && anchor(launch.context, launch.stream);
  if (!can) return false;
  launch.begin = fresh(launch.context);
  launch.end = fresh(launch.context);
  if (launch.begin == nullptr || launch.end == nullptr ||
      cuda_.record(launch.begin, launch.stream) != CUDA_SUCCESS)
    return false;
  launches_.push_back(std::move(launch));
  return true;
}

void EventTimer::begin(const TimedLaunch& made) noexcept {
  const std::lock_guard lock(mutex_);
  const Relaxed relaxed(cuda_);
  bool timed = false;
  try {
    CUcontext handle = nullptr;
    if (cuda_.current != nullptr) cuda_.current(&handle);
    Launch wanted;
    wanted.context = made.context;
    wanted.handle = handle;
    wanted.stream = made.stream;
    wanted.correlation = made.correlation;
    if (made.name != nullptr) wanted.name = made.name;
    wanted.graph = made.graph;
    timed = launch(wanted);
  } catch (...) {  // no memory
  }
  if (!timed) ++missed_;
}

void EventTimer::end(std::uint32_t correlation) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(launches_.rbegin(), launches_.rend(), [&](const Launch& launch) {
    return launch.correlation == correlation && !launch.launched;
  });
  if (found == launches_.rend()) return;
  const Relaxed relaxed(cuda_);
  if (cuda_.record(found->end, found->stream) == CUDA_SUCCESS) {
    found->launched = true;
  } else {
    ++missed_;
    launches_.erase(std::next(found).base());
  }
}

bool EventTimer::measure(const Launch& launch, TimedKernel& kernel) const {
  constexpr double kNsPerMs = 1e6;
  const Anchor& anchored = anchors_.at(launch.context);
  float since = 0;
  float lasted = 0;
  if (cuda_.elapsed(&since, anchored.event, launch.begin) != CUDA_SUCCESS ||
      cuda_.elapsed(&lasted, launch.begin, launch.end) != CUDA_SUCCESS)
    return false;
  kernel.start = anchored.time + std::llround(static_cast<double>(since) * kNsPerMs);
  kernel.duration = std::max<std::int64_t>(0, std::llround(static_cast<double>(lasted) * kNsPerMs));
  return true;
}

/// Elapsed times come as floats: after a second they would begin to be coarse. The event that
/// is free then.
CUevent EventTimer::move_anchor(const Launch& launch, const std::vector<TimedKernel>& ended) {
  constexpr std::int64_t kFar = 1'000'000'000;
  Anchor& anchored = anchors_[launch.context];
  if (ended.empty() || ended.back().correlation != launch.correlation) return launch.end;
  const std::int64_t over = ended.back().start + ended.back().duration;
  if (over - anchored.time < kFar) return launch.end;
  anchored.time = over;
  return std::exchange(anchored.event, launch.end);
}

/// For all that take() may hand over, so that it does not fail halfway.
void EventTimer::make_room(std::vector<TimedKernel>& ended) {
  ended.reserve(launches_.size());
  for (const Launch& launch : launches_) {
    std::vector<CUevent>& free = free_[launch.context];
    free.reserve(free.size() + 2 * launches_.size());
    static_cast<void>(anchors_[launch.context]);
  }
}

/// False for one that runs still. There is room for it.
bool EventTimer::hand_over(Launch& launch, std::vector<TimedKernel>& ended) {
  if (!launch.launched) return false;
  const Entered entered(cuda_, launch.handle);
  if (!entered.known()) {
    // Its events are gone with it.
    ++missed_;
    return true;
  }
  if (cuda_.query(launch.end) == CUDA_ERROR_NOT_READY) return false;
  TimedKernel kernel{0,
                     0,
                     launch.context,
                     reinterpret_cast<std::uint64_t>(launch.stream),
                     launch.correlation,
                     std::move(launch.name),
                     launch.graph};
  if (measure(launch, kernel)) {
    ended.push_back(std::move(kernel));
  } else {
    ++missed_;
  }
  free_[launch.context].push_back(launch.begin);
  free_[launch.context].push_back(move_anchor(launch, ended));
  return true;
}

std::vector<TimedKernel> EventTimer::take() {
  const std::lock_guard lock(mutex_);
  const Relaxed relaxed(cuda_);
  std::vector<TimedKernel> ended;
  make_room(ended);
  auto running = launches_.begin();
  for (auto launch = running; launch != launches_.end(); ++launch) {
    if (hand_over(*launch, ended)) continue;
    if (running != launch) *running = std::move(*launch);
    ++running;
  }
  launches_.erase(running, launches_.end());
  return ended;
}

std::uint64_t EventTimer::take_missed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(missed_, 0);
}

}  // namespace fathom::cuda

// What CUPTI calls: for buffers, and while the program makes the calls that are watched.
#include <algorithm>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "capture/cuda/tracer.h"
#include "capture/cuda/watched_calls.h"
#include "capture/inside/attempt.h"
#include "capture/inside/inside_guard.h"

namespace fathom::cuda {

void Tracer::watch_calls() {
  for (const Watched& watched : watched_calls()) {
    const CUptiResult result = cupti_.enable_callback(1, subscriber_, watched.domain, watched.id);
    check("calls that CUPTI shows while they happen", result);
  }
}

/// Those that are not heard of always, as that would cost each launch some time. CUPTI wants one of
/// us at a time to ask for callbacks: what else does so does it when recording begins, long before
/// a tick comes here. Where kernels are timed by events their launches are heard of anyway.
void Tracer::hear_launches(bool wanted) {
  if (timer_ != nullptr || std::exchange(launches_heard_, wanted) == wanted) return;
  for (const Watched& launch : plain_launches()) {
    const CUptiResult result =
        cupti_.enable_callback(wanted ? 1 : 0, subscriber_, launch.domain, launch.id);
    check("calls that CUPTI shows while they happen", result);
  }
}

void CUPTIAPI Tracer::on_request(std::uint8_t** buffer, std::size_t* size,
                                 std::size_t* most) noexcept {
  *buffer = get().buffers_->request();
  *size = Buffers::kBytes;
  *most = 0;
}

void CUPTIAPI Tracer::on_complete(CUcontext /*context*/, std::uint32_t /*stream*/,
                                  std::uint8_t* buffer, std::size_t /*size*/,
                                  std::size_t valid) noexcept {
  Tracer& tracer = get();
  if (buffer == nullptr || tracer.buffers_->complete(buffer, valid)) return;
  // At the end CUPTI is not called any more: the driver may be gone.
  const bool counts = tracer.recording_ && tracer.tracing_;
  tracer.buffers_->discard(buffer, counts ? tracer.records_in(buffer, valid) : 0);
}

std::uint64_t Tracer::records_in(std::uint8_t* bytes, std::size_t valid) {
  std::uint64_t count = 0;
  CUpti_Activity* record = nullptr;
  CUptiResult result = CUPTI_SUCCESS;
  while ((result = cupti_.next_record(bytes, valid, &record)) == CUPTI_SUCCESS) ++count;
  if (result != CUPTI_ERROR_MAX_LIMIT_REACHED)
    check("how many records beyond the memory cap were discarded", result);
  return count;
}

void CUPTIAPI Tracer::on_call(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void* data) noexcept {
  if (data == nullptr) return;
  auto& tracer = *static_cast<Tracer*>(user);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    tracer.context_made(*static_cast<const CUpti_ResourceData*>(data));
    return;
  }
  const inside::Inside guard;
  if (domain == CUPTI_CB_DOMAIN_STATE) {
    tracer.state_changed(id, *static_cast<const CUpti_StateData*>(data));
    return;
  }
  // A call of our own.
  if (guard.again()) return;
  inside::attempt([&] { tracer.call(domain, id, *static_cast<const CUpti_CallbackData*>(data)); });
}

void Tracer::context_made(const CUpti_ResourceData& data) {
  std::uint32_t device = 0;
  if (!recording_ || getpid() != pid_ || metrics_ == nullptr) return;
  const CUptiResult result = cupti_.device_of(data.context, &device);
  if (result == CUPTI_SUCCESS) return metrics_->context_on(device);
  // A later look finds it.
  check("the first moment of hardware counters", result);
}

/// After a fatal error CUPTI has ended itself.
void Tracer::state_changed(CUpti_CallbackId id, const CUpti_StateData& data) {
  if (id != CUPTI_CBID_STATE_FATAL_ERROR || getpid() != pid_ || !recording_.exchange(false)) return;
  check("all GPU activity from a fatal error of CUPTI on", data.notification.result);
  stopped_ = true;
}

/// Has CUPTI hand over what it has of the device while the device is there. Where all of it is done
/// that need not be forced, which would cut what other contexts run, for good. Who releases a
/// context has waited, or loses what was not done: whether it ends is not known.
void Tracer::context_ends(ContextEnd how, CUpti_CallbackId id, const void* parameters) {
  const bool done =
      how == ContextEnd::released ||
      (how == ContextEnd::primary
           ? wait_for_primary_context(contexts_, device_of_ended(id, parameters))
           : wait_for_context(contexts_,
                              how == ContextEnd::named ? ended_context(id, parameters) : nullptr));
  check("records before the end of a context",
        cupti_.flush_all(done ? 0 : static_cast<std::uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)));
}

void Tracer::call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                  const CUpti_CallbackData& data) {
  if (!recording_ || !tracing_ || leaving_ || getpid() != pid_) return;
  const bool enters = data.callbackSite == CUPTI_API_ENTER;
  if (is_profiler_call(domain, id, true)) {
    if (!enters) range(true);
    return;
  }
  if (is_profiler_call(domain, id, false)) {
    if (enters) range(false);
    return;
  }
  if (const ContextEnd how = context_end(domain, id); how != ContextEnd::none) {
    if (enters) context_ends(how, id, data.functionParams);
    return;
  }
  const bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
  EventTimer* const timer = timer_;
  if (timer != nullptr && driver && launches_work(id)) time_launch(*timer, id, data);
  if (!enabled_) return;
  if (!enters && driver && launches_work(id)) ++heard_;
  if (enters && is_programmatic(domain, id, data.functionParams))
    notes_.programmatic(data.correlationId);
}

/// cudaProfilerStart() and Stop(): a range of the program's, and where so asked, all there is.
void Tracer::range(bool begins) {
  const std::int64_t now = wire::monotonic_ns();
  if (options_.range_only) {
    range_open_ = begins;
    obey_limits();
  }
  const std::lock_guard lock(mutex_);
  if (begins && range_begin_ < 0) {
    range_begin_ = now;
  } else if (!begins && range_begin_ >= 0) {
    ranges_.emplace_back(range_begin_, now);
    if (options_.range_only && !may_disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
      kept_ranges_.emplace_back(range_begin_, now);
    range_begin_ = -1;
  }
}

/// Where kernels cannot be switched off, those outside of the program's ranges are dropped.
bool Tracer::in_ranges(std::int64_t time) {
  if (!options_.range_only || may_disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) return true;
  const std::lock_guard lock(mutex_);
  if (range_begin_ >= 0 && time >= range_begin_) return true;
  return std::ranges::any_of(kept_ranges_, [time](const auto& range) {
    return time >= range.first && time < range.second;
  });
}

}  // namespace fathom::cuda

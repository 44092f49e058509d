// Tracer: the one subscriber to CUPTI in this process, from the first call of CUDA to the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/cuda/activity_limits.h"
#include "capture/cuda/buffers.h"
#include "capture/cuda/clock_fit.h"
#include "capture/cuda/context_wait.h"
#include "capture/cuda/converter.h"
#include "capture/cuda/cupti.h"
#include "capture/cuda/device_time.h"
#include "capture/cuda/event_timer.h"
#include "capture/cuda/fallback.h"
#include "capture/cuda/graph_cost.h"
#include "capture/cuda/libraries.h"
#include "capture/cuda/options.h"
#include "capture/cuda/pm_sampler.h"
#include "capture/cuda/pm_writer.h"
#include "capture/cuda/raw_records.h"
#include "capture/cuda/watched_calls.h"

namespace fathom::cuda {

/// Never destroyed, and never ends the program: what there is no memory for is not recorded, and
/// counted. CUPTI fills buffers from threads of its own; the recorder's thread hands on
/// what is in them, a few times a second. In a child of fork() it is as if it were not there: CUDA
/// cannot be used there either.
class Tracer {
 public:
  static Tracer& get() noexcept;

  /// Subscribes and asks for all that is wanted. Does nothing the second time.
  void start() noexcept;

  /// 1: CUPTI's activity is ours in this process; 0: it is not, or no more; -1: start() has not
  /// ended yet. Thread-safe.
  [[nodiscard]] int has_cupti() const noexcept;

  /// As of DeviceTimeFunction.
  const char* device_time(DeviceTime& read) noexcept;

 private:
  Tracer() = default;

  void begin();
  void say_now() noexcept;
  void abandon() noexcept;
  bool leave_to_torch();
  void give_back_cupti();
  static void on_look();
  void look_for_torch();
  void leave(wire::Writer& writer);
  void taken_over();
  [[nodiscard]] bool plausible(std::int64_t time) const;
  void promise_zeros(bool promised);
  void convert_last(wire::Writer& writer);
  void look_for_silence();
  bool open(const std::string& what, bool subscribes);
  Trial subscribe(const Cupti& cupti, int driver_major, Loss& loss);
  void start_tracing();
  void start_metrics();
  void enable();
  void say_answers(std::span<const CUptiResult> answers);
  void compare_layouts();
  void enable_things();
  void leave_out_noise();
  void disable();
  [[nodiscard]] bool may_disable(CUpti_ActivityKind kind) const;
  void obey_limits();
  void watch_calls();
  void hear_launches(bool wanted);
  FallbackLevel fall_back();
  static void time_launch(EventTimer& timer, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void write_timed(EventTimer& timer, wire::Writer& writer);
  void lose(const Loss& loss);
  /// Says once what is lost where CUPTI refuses that. `what` is a literal. Only while ticking.
  void check(std::string_view what, CUptiResult result) noexcept;
  /// While ticking, with the lock held.
  void write_fact(std::string_view key, std::string_view value);
  void say_surroundings();

  static void CUPTIAPI on_request(std::uint8_t** buffer, std::size_t* size,
                                  std::size_t* most) noexcept;
  static void CUPTIAPI on_complete(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                   std::size_t size, std::size_t valid) noexcept;
  static void CUPTIAPI on_call(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                               const void* data) noexcept;
  void context_made(const CUpti_ResourceData& data);
  void call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void range(bool begins);
  void context_ends(ContextEnd how, CUpti_CallbackId id, const void* parameters);
  void state_changed(CUpti_CallbackId id, const CUpti_StateData& data);
  [[nodiscard]] bool in_ranges(std::int64_t time);

  static void on_tick(wire::Writer& writer, std::int32_t pid, std::int64_t now);
  void tick(wire::Writer& writer);
  void write_lists(wire::Writer& writer);
  void make_converter(wire::Writer& writer);
  void read_clock();
  void flush(bool forced);
  void wait_for_buffers();
  [[nodiscard]] std::uint64_t records_in(std::uint8_t* bytes, std::size_t valid);
  void trace(wire::Writer& writer, bool forced);
  void write_metrics(wire::Writer& writer, bool crashing);
  void convert(wire::Writer& writer);
  void keep_raw() const;
  void count_converted(wire::Writer& writer);
  void write_library_calls(wire::Writer& writer);
  void count_losses(wire::Writer& writer);
  void answer_device_time(wire::Writer& writer);
  void say_at_end(wire::Writer& writer);
  void look_at_length();
  void warn(wire::Writer& writer);
  void at_exit() noexcept;

  Options options_;
  Cupti cupti_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::unique_ptr<Buffers> buffers_;
  ClockFit clock_;
  LaunchNotes notes_;
  GraphCost graph_cost_;
  std::unique_ptr<Converter> converter_;
  std::unique_ptr<RawRecords> raw_;  // null unless they are to be kept
  // Null unless kernels are refused. Made while callbacks run already, and never freed.
  std::atomic<EventTimer*> timer_{nullptr};
  std::unique_ptr<PmSampler> metrics_;  // null unless asked for
  std::unique_ptr<PmWriter> metrics_writer_;
  std::vector<Loss> metrics_losses_;  // not yet said
  Demangler demangle_;
  ConverterCounts told_;  // of the converter's, what the file says already
  std::int32_t pid_ = 0;
  std::size_t losses_ = 0;
  std::uint64_t ticks_ = 0;
  bool warned_ = false;
  std::int64_t began_ = 0;
  bool length_said_ = false;
  std::atomic<bool> started_{false};     // or failed to
  std::atomic<bool> tracing_{false};     // we are CUPTI's subscriber
  std::atomic<bool> leaving_{false};     // and are about to be it no more: callbacks do nothing
  std::atomic<bool> stopped_{false};     // CUPTI has: what it handed over is still to be converted
  std::atomic<bool> torch_came_{false};  // after us, with a profiler of its own
  std::atomic<bool> recording_{false};   // CUPTI may be called
  std::atomic<bool> ticking_{false};     // what is to be said waits for the next tick
  std::atomic<bool> ending_{false};
  bool zeros_promised_ = false;

  ContextFunctions contexts_;
  std::atomic<std::uint64_t> heard_{0};  // launches, each of which CUPTI writes a record of
  std::uint64_t heard_before_ = 0;       // when a buffer was last asked for or returned
  std::uint64_t moves_before_ = 0;
  int still_ = 0;                // ticks without a buffer that was asked for or returned
  bool launches_heard_ = false;  // the plain ones, too
  bool calls_written_ = false;   // CUPTI was asked for records of calls, and allows them

  Limits limits_;
  std::atomic<bool> range_open_{true};  // the program's own, where only that is recorded
  std::mutex switching_;
  std::atomic<bool> enabled_{false};
  std::atomic<bool> was_enabled_{false};

  std::atomic<bool> times_refused_{false};  // of some of what devices do
  std::atomic<std::uint64_t> times_asked_{0};
  std::atomic<std::uint64_t> times_answered_{0};
  std::uint64_t lost_ = 0;  // records that CUPTI or we had no room for
  DeviceTime device_time_;  // with the lock held

  std::mutex mutex_;
  std::int64_t range_begin_ = -1;
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;  // not yet in the file
  std::int64_t ranges_told_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> kept_ranges_;  // where only those are kept
  std::vector<std::pair<std::string, std::string>> facts_;          // not yet in the file
  std::vector<std::string_view> reported_;  // what CUPTI refused and was said
};

}  // namespace fathom::cuda

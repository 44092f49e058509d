// The work of the recorder's thread for CUDA: each tick, and the end of the program.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "base/json_writer.h"
#include "capture/cuda/cpu_ticks.h"
#include "capture/cuda/tracer.h"
#include "capture/inside/attempt.h"
#include "capture/inside/inside_guard.h"
#include "capture/inside/recorder.h"

namespace fathom::cuda {
namespace {

constexpr int kAttempts = 5;
constexpr useconds_t kBetweenLooks = 1000;
/// Ticks between two looks at what the clocks have been doing; a tick is a quarter of a second.
constexpr std::uint64_t kSayEvery = 40;

}  // namespace

void Tracer::on_tick(wire::Writer& writer, std::int32_t pid, std::int64_t /*now*/) {
  Tracer& tracer = get();
  // A forked child has a writer of its own, but no CUDA.
  if (pid == tracer.pid_) tracer.tick(writer);
}

void Tracer::read_clock() {
  ClockReading best;
  for (int i = 0; i < kAttempts; ++i) {
    std::uint64_t there = 0;
    const std::uint64_t ticks = cpu_ticks();
    const std::int64_t before = wire::monotonic_ns();
    if (const CUptiResult result = cupti_.timestamp(&there); result != CUPTI_SUCCESS) {
      if (ticking_) check("times of GPU activity", result);
      return;
    }
    const ClockReading reading{static_cast<std::int64_t>(there), before, wire::monotonic_ns()};
    // Counted by the processor: torch.profiler has CUPTI call its clock instead of CUPTI's own.
    if (ticks != 0 && there >= ticks && there <= cpu_ticks()) return taken_over();
    if (i == 0 || reading.error() < best.error()) best = reading;
  }
  clock_.add(best);
  if (clock_.unknown()) taken_over();
}

/// Another profiler has put its clock, and its buffers, into the place of ours. What it enabled is
/// left as it is.
void Tracer::taken_over() {
  if (!tracing_.exchange(false)) return;
  promise_zeros(false);
  stopped_ = true;
  const char* const why =
      clock_.unknown()
          ? "times unknown: it has set a clock in the place of CUPTI's that runs neither like the "
            "host's nor like the processor's counter"
          : "CUPTI gives its records to one: torch.profiler takes them, from torch 2.15 on even "
            "where another profiler is there already";
  const std::lock_guard lock(mutex_);
  inside::attempt([&] {
    lose({"GPU activity from when another profiler in this process took CUPTI", why,
          "record without --cuda always, or without the program's own profile"});
  });
}

/// Times of a clock that is not known, or not yet, lie anywhere.
bool Tracer::plausible(std::int64_t time) const {
  constexpr std::int64_t kFar = 10'000'000'000;
  return clock_.settled() || (time >= began_ - kFar && time < wire::monotonic_ns() + kFar);
}

/// A clock that cannot be distinguished from CUPTI's is no sign of a takeover. But of each launch
/// that CUPTI calls us for it writes a record of at least so many bytes, into a buffer of some
/// thread: after more of them than fit into all that it has, and one more, one must have come back.
/// While buffers come and go only launches with attributes are heard of; once none did for a while,
/// all are.
void Tracer::look_for_silence() {
  constexpr std::uint64_t kLeast = 40;
  constexpr std::uint64_t kLaunches = Buffers::kBytes / kLeast;
  constexpr int kStill = 4;
  const std::uint64_t heard = heard_;
  const std::uint64_t moves = buffers_->moves();
  if (moves != std::exchange(moves_before_, moves) || !enabled_ || !calls_written_) {
    heard_before_ = heard;
    still_ = 0;
    hear_launches(false);
    return;
  }
  if (++still_ >= kStill) hear_launches(true);
  if (heard - heard_before_ <= kLaunches * (buffers_->outstanding() + 1)) return;
  hear_launches(false);
  taken_over();
}

/// What CUPTI had handed over when it stopped being ours, or working; it is not asked for more.
void Tracer::convert_last(wire::Writer& writer) {
  if (converter_ == nullptr) make_converter(writer);
  if (!clock_.empty()) convert(writer);
  // Where they are still ours, nobody converts what CUPTI goes on to fill.
  buffers_->abandon();
  say_at_end(writer);
}

/// PyTorch was imported after the program had used CUDA. Its profiler needs CUPTI. Callbacks do
/// nothing meanwhile: CUPTI may have us wait for one that waits for a lock of ours.
void Tracer::leave(wire::Writer& writer) {
  leaving_ = true;
  {
    const std::lock_guard lock(switching_);
    disable();
  }
  flush(true);
  convert(writer);
  count_losses(writer);
  promise_zeros(false);
  buffers_->abandon();
  convert(writer);
  check("CUPTI for torch.profiler", cupti_.unsubscribe(subscriber_));
  tracing_ = false;
  const std::lock_guard lock(mutex_);
  write_fact("cuda.recorder", "torch.profiler");
  lose({"GPU activity outside of what torch.profiler records, from when PyTorch was loaded",
        "CUPTI serves one profiler in a process, and PyTorch has its own",
        "--cuda always records it here, and leaves torch.profiler without a GPU"});
}

void Tracer::flush(bool forced) {
  check(
      "GPU activity that CUPTI did not hand over",
      cupti_.flush_all(forced ? static_cast<std::uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) : 0));
  if (forced) wait_for_buffers();
}

/// CUPTI may return them from a thread of its own, after it was flushed.
void Tracer::wait_for_buffers() {
  const std::int64_t until = wire::monotonic_ns() + kLongestWait;
  while (buffers_->outstanding() > 0 && wire::monotonic_ns() < until) {
    usleep(kBetweenLooks);
    inside::Recorder::get().get_on();
  }
}

/// Each part on its own: one that finds no memory does not keep the others from their work.
void Tracer::tick(wire::Writer& writer) {
  const bool ending = ending_;
  const bool crashing = inside::Recorder::get().crashing();
  if (recording_) inside::attempt([this] { read_clock(); });
  if (tracing_) inside::attempt([&] { trace(writer, ending || crashing); });
  if (tracing_ && recording_ && !ending) look_for_silence();
  if (stopped_.exchange(false)) inside::attempt([&] { convert_last(writer); });
  if (tracing_ && recording_ && !ending && torch_came_) inside::attempt([&] { leave(writer); });
  if (metrics_ != nullptr) inside::attempt([&] { write_metrics(writer, crashing); });
  write_lists(writer);
  if (recording_ && (ending || crashing || ++ticks_ % kSayEvery == 2))
    inside::attempt([&] { say_at_end(writer); });
  if (tracing_ && recording_) inside::attempt([this] { look_at_length(); });
  if (subscriber_ != nullptr && recording_ && (ending || crashing)) {
    inside::attempt([&] { warn(writer); });
    inside::attempt([this] { keep_raw(); });
  }
  // CUPTI is not called any more: the driver goes down next.
  if (ending) recording_ = false;
}

/// What callbacks left to be written.
void Tracer::write_lists(wire::Writer& writer) {
  const std::lock_guard lock(mutex_);
  for (const Loss& loss : std::exchange(metrics_losses_, {})) inside::attempt([&] { lose(loss); });
  for (const auto& [begin, end] : ranges_)
    writer.slice(begin, end - begin, pid_, pid_, "cudaProfilerStart", "profile", ++ranges_told_);
  ranges_.clear();
  for (const auto& [key, value] : facts_) writer.fact(pid_, key, value);
  facts_.clear();
}

void Tracer::make_converter(wire::Writer& writer) {
  const auto name = [this](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    const char* known = nullptr;
    const CUptiResult result = cupti_.callback_name(domain, id, &known);
    // A number that this version has no name for.
    if (result != CUPTI_ERROR_INVALID_PARAMETER) check("names of calls of CUDA", result);
    return result == CUPTI_SUCCESS ? known : nullptr;
  };
  auto made = std::make_unique<Converter>(writer, clock_, pid_, cupti_.version, name, &notes_);
  made->keep_only([this](std::int64_t start) {
    return limits_.keeps(start) && in_ranges(start) && plausible(start);
  });
  made->watch_graphs(&graph_cost_);
  if (!raw_path(pid_).empty()) raw_ = std::make_unique<RawRecords>(cupti_.version);
  converter_ = std::move(made);
}

/// For tests: what this libcupti wrote.
void Tracer::keep_raw() const {
  if (raw_ == nullptr) return;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(raw_path(pid_).c_str(), "wbe"), std::fclose);
  const std::string text = raw_->text();
  if (file != nullptr) std::fwrite(text.data(), 1, text.size(), file.get());
}

void Tracer::trace(wire::Writer& writer, bool forced) {
  if (converter_ == nullptr) make_converter(writer);
  limits_.look();
  if (recording_) flush(forced);
  if (recording_ && !forced && !options_.range_only) obey_limits();
  // Who counts the steps may begin to later than the program uses CUDA.
  const bool known = !limits_.undecided() && clock_.settled();
  const bool decided = known || forced || buffers_->half_full();
  // Without a reading of its clock CUPTI's times mean nothing here.
  if (recording_ && decided && !clock_.empty()) convert(writer);
  if (recording_ && known && times_asked_ != times_answered_) answer_device_time(writer);
  if (EventTimer* const timer = timer_) write_timed(*timer, writer);
  if (options_.libraries) write_library_calls(writer);
  if (recording_) count_losses(writer);
}

void Tracer::write_metrics(wire::Writer& writer, bool crashing) {
  if (metrics_writer_ == nullptr)
    metrics_writer_ = std::make_unique<PmWriter>(writer, clock_, pid_);
  if (crashing && recording_) metrics_->look();
  PmReport news = metrics_->take();
  metrics_losses_ = std::move(news.losses);
  for (Loss& loss : metrics_writer_->write(news)) metrics_losses_.push_back(std::move(loss));
}

void Tracer::convert(wire::Writer& writer) {
  converter_->set_running_until(wire::monotonic_ns());
  for (std::size_t left = buffers_->filled(); left > 0; --left) {
    const std::optional<Buffers::Filled> filled = buffers_->take();
    if (!filled) break;
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = cupti_.next_record(filled->bytes, filled->size, &record)) == CUPTI_SUCCESS)
      inside::attempt([&] {
        if (raw_ != nullptr) raw_->keep(*record);
        converter_->convert(*record);
      });
    if (result != CUPTI_ERROR_MAX_LIMIT_REACHED)
      check("the rest of a buffer that CUPTI cannot read", result);
    buffers_->give_back(filled->bytes);
    inside::Recorder::get().get_on();
  }
  count_converted(writer);
}

void Tracer::count_converted(wire::Writer& writer) {
  const ConverterCounts& counts = converter_->counts();
  const auto lost = [&](std::string_view what, std::uint64_t ConverterCounts::*count) {
    if (counts.*count > told_.*count) writer.dropped(what, counts.*count - told_.*count);
  };
  lost("CUDA activities that CUPTI had no times for", &ConverterCounts::without_time);
  lost("CUPTI records of kinds that are not read", &ConverterCounts::unknown);
  lost("waits for CUDA events whose stream was forgotten, as events are too many",
       &ConverterCounts::waits_without_stream);
  lost("ids given to CUDA calls that were forgotten before the calls came",
       &ConverterCounts::external_forgotten);
  lost("programmatic launches that were forgotten before their kernels came",
       &ConverterCounts::launches_forgotten);
  told_ = counts;
}

void Tracer::write_timed(EventTimer& timer, wire::Writer& writer) {
  if (!recording_) return;
  const wire::Argument arguments[] = {{"timed_by", "CUDA events"}};
  const auto write = [&](const TimedKernel& kernel) {
    writer.device({.start = kernel.start,
                   .duration = kernel.duration,
                   .pid = pid_,
                   .context = kernel.context,
                   .stream = static_cast<std::int64_t>(kernel.stream),
                   .name = demangle_(kernel.name.c_str()),
                   .category = kernel.graph ? "cuda_graph" : "kernel",
                   .correlation = kernel.correlation == 0 ? -1 : std::int64_t{kernel.correlation},
                   .arguments = arguments});
  };
  for (const TimedKernel& kernel : timer.take())
    if (limits_.keeps(kernel.start)) inside::attempt([&] { write(kernel); });
  if (const std::uint64_t missed = timer.take_missed(); missed > 0)
    writer.dropped("launches of kernels and graphs that could not be timed by CUDA events", missed);
}

void Tracer::write_library_calls(wire::Writer& writer) {
  for (const LibraryCall& call : LibraryCalls::get().take()) {
    if (!range_open_ || !limits_.keeps(call.time)) continue;
    const wire::Argument arguments[] = {{"arguments", call.arguments}};
    const std::span<const wire::Argument> all(arguments);
    writer.instant(call.time, pid_, call.tid, call.name, call.library,
                   call.arguments.empty() ? all.first(0) : all);
  }
  if (const std::uint64_t missed = LibraryCalls::get().take_missed(); missed > 0)
    writer.dropped("calls of cuBLAS and cuDNN for which there was no room", missed);
}

void Tracer::count_losses(wire::Writer& writer) {
  std::size_t dropped = 0;
  const CUptiResult counted = cupti_.dropped_records(nullptr, 0, &dropped);
  check("how many records CUPTI had no room for", counted);
  if (counted == CUPTI_SUCCESS && dropped > 0)
    writer.dropped("CUDA activity records that CUPTI had no room for", dropped);
  const std::uint64_t refused = buffers_->take_refused();
  if (refused > 0) writer.dropped("requests of CUPTI for a buffer beyond the memory cap", refused);
  const std::uint64_t discarded = buffers_->take_discarded();
  if (discarded > 0) writer.dropped("CUDA activity records beyond the memory cap", discarded);
  const std::uint64_t failed = buffers_->take_failed();
  if (failed > 0)
    writer.dropped("requests of CUPTI for a buffer for which there was no memory", failed);
  lost_ += dropped + refused + discarded + failed;
}

/// For who waits in device_time(). CUPTI may return buffers from a thread of its own: they are all
/// here once two flushes in turn bring nothing.
void Tracer::answer_device_time(wire::Writer& writer) {
  constexpr int kQuiet = 2;
  constexpr int kMostFlushes = 20;
  const std::uint64_t asked = times_asked_;
  std::uint64_t before = converter_->counts().activities;
  for (int flushes = 0, quiet = 0; flushes < kMostFlushes && quiet < kQuiet; ++flushes) {
    flush(false);
    convert(writer);
    const std::uint64_t now = converter_->counts().activities;
    quiet = now == before ? quiet + 1 : 0;
    before = now;
  }
  count_losses(writer);
  const ConverterCounts& counts = converter_->counts();
  {
    const std::lock_guard lock(mutex_);
    device_time_ = {.ns = counts.activity_ns,
                    .activities = counts.activities,
                    .missed = lost_ + counts.without_time + counts.running + counts.outside};
  }
  times_answered_ = asked;
}

/// Also now and then, for a program that does not come to its end.
void Tracer::say_at_end(wire::Writer& writer) {
  const ClockQuality& clock = clock_.quality();
  writer.fact(pid_, "cuda.clock.error_ns", std::to_string(clock.error));
  writer.fact(pid_, "cuda.clock.readings", std::to_string(clock.readings));
  writer.fact(pid_, "cuda.clock.drift_ppm", std::to_string(clock.drift_ppm));
  // One that is not cleared up yet may be no jump.
  if (clock.jumps > 0 && clock_.settled())
    writer.fact(pid_, "cuda.clock.jumps", std::to_string(clock.jumps));
  if (metrics_writer_ != nullptr) metrics_writer_->write_facts();
  if (converter_ == nullptr) return;
  writer.fact(pid_, "cuda.records", std::to_string(converter_->counts().records));
  if (const std::uint64_t launches = converter_->counts().programmatic; launches > 0)
    writer.fact(pid_, "cuda.programmatic_launches", std::to_string(launches));
  if (const std::uint64_t events = converter_->counts().events_forgotten; events > 0)
    writer.fact(pid_, "cuda.events_forgotten", std::to_string(events));
  if (const std::uint64_t running = converter_->counts().running; running > 0)
    writer.fact(pid_, "cuda.running", std::to_string(running));
  if (ending_ || !recording_ || inside::Recorder::get().crashing())
    writer.fact(pid_, "cuda.buffers_outstanding", std::to_string(buffers_->outstanding()));
  if (const std::string cost = graph_cost_.text(options_.graph_nodes); !cost.empty())
    writer.fact(pid_, options_.graph_nodes ? "cuda.graph_nodes.cost" : "cuda.graphs.cost", cost);
}

/// Once it has been long; the next tick writes it.
void Tracer::look_at_length() {
  if (length_said_) return;
  const std::optional<Loss> loss = loss_of_length(cupti_.version, wire::monotonic_ns() - began_);
  if (!loss) return;
  length_said_ = true;
  const std::lock_guard lock(mutex_);
  lose(*loss);
}

/// Limits that had no effect, or left nothing.
void Tracer::warn(wire::Writer& writer) {
  if (converter_ == nullptr || std::exchange(warned_, true)) return;
  const ConverterCounts& counts = converter_->counts();
  std::string sentence;
  if (limits_.undecided()) {
    sentence = "no part of Fathom reported the steps or ranges of process " + std::to_string(pid_) +
               " (--steps, --range): all that it did with CUDA was kept";
  } else if (counts.kept == 0 && (counts.outside > 0 || !was_enabled_)) {
    sentence = "nothing was recorded of what process " + std::to_string(pid_) +
               " did with CUDA: it lies outside of the time, steps, range or signal asked for";
  }
  if (!sentence.empty()) writer.fact(pid_, "WARNING", "[" + json_string(sentence) + "]");
}

/// CUPTI is not called any more after this: the driver goes down next.
void Tracer::at_exit() noexcept {
  if (getpid() != pid_) return;
  const inside::Inside guard;
  // A tick that sees the end writes how many samples there are: the last must be there by then.
  if (metrics_ != nullptr) metrics_->stop();
  ending_ = true;
  inside::Recorder::get().flush();
  recording_ = false;
}

}  // namespace fathom::cuda

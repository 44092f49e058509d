// What the recorder's thread does at each tick, and the end of the program.
#include <algorithm>
#include <string>

#include <unistd.h>

#include "capture/cuda/tracer.h"
#include "capture/inside/recorder.h"

namespace fathom::cuda {
namespace {

constexpr int kAttempts = 5;
/// Ticks between two looks at what the clocks have been doing; a tick is a quarter of a second.
constexpr std::uint64_t kSayEvery = 40;

}  // namespace

void Tracer::on_tick(wire::Writer& writer, std::int32_t pid, std::int64_t now) {
  Tracer& tracer = get();
  // A forked child has a writer of its own, but no CUDA.
  if (pid == tracer.pid_) tracer.tick(writer, now);
}

void Tracer::read_clock() {
  ClockReading best;
  for (int i = 0; i < kAttempts; ++i) {
    std::uint64_t there = 0;
    const std::int64_t before = wire::monotonic_ns();
    if (cupti_.timestamp(&there) != CUPTI_SUCCESS) return;
    const ClockReading reading{static_cast<std::int64_t>(there), before, wire::monotonic_ns()};
    if (i == 0 || reading.error() < best.error()) best = reading;
  }
  clock_.add(best);
}

void Tracer::flush(bool forced) {
  cupti_.flush_all(forced ? static_cast<std::uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) : 0);
}

void Tracer::tick(wire::Writer& writer, std::int64_t /*now*/) {
  if (converter_ == nullptr) {
    const auto name = [this](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
      const char* known = nullptr;
      return cupti_.callback_name(domain, id, &known) == CUPTI_SUCCESS ? known : nullptr;
    };
    converter_ = std::make_unique<Converter>(writer, clock_, pid_, cupti_.version, name, &notes_);
    if (options_.graph_nodes) converter_->watch_graphs(&graph_cost_);
  }
  const bool ending = ending_;
  if (recording_) {
    read_clock();
    flush(ending || inside::Recorder::get().crashing());
  }
  convert(writer);
  if (timer_ != nullptr) write_timed(writer);
  if (recording_) count_losses(writer);
  if (options_.graph_nodes && recording_ && graph_cost_.enough() && !converter_->graphs_by_node()) {
    cupti_.disable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    converter_->set_graphs_by_node();
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, end] : ranges_)
    writer.slice(begin, end - begin, pid_, pid_, "cudaProfilerStart", "profile", ++ranges_told_);
  ranges_.clear();
  for (const auto& [key, value] : facts_) writer.fact(pid_, key, value);
  facts_.clear();
  if (recording_ && (ending || ++ticks_ % kSayEvery == 2)) say_at_end(writer);
}

void Tracer::convert(wire::Writer& writer) {
  for (const Buffers::Filled& filled : buffers_->take()) {
    CUpti_Activity* record = nullptr;
    while (cupti_.next_record(filled.bytes, filled.size, &record) == CUPTI_SUCCESS)
      converter_->convert(*record);
    buffers_->give_back(filled.bytes);
  }
  const ConverterCounts& counts = converter_->counts();
  if (counts.without_time > told_.without_time)
    writer.dropped("CUDA activities that CUPTI had no times for",
                   counts.without_time - told_.without_time);
  if (counts.unknown > told_.unknown)
    writer.dropped("CUPTI records of kinds that are not read", counts.unknown - told_.unknown);
  told_ = counts;
}

void Tracer::write_timed(wire::Writer& writer) {
  if (!recording_) return;
  const wire::Argument arguments[] = {{"timed_by", "CUDA events"}};
  for (const TimedKernel& kernel : timer_->take()) {
    writer.device({.start = kernel.start,
                   .duration = kernel.duration,
                   .pid = pid_,
                   .context = kernel.context,
                   .stream = static_cast<std::int64_t>(kernel.stream),
                   .name = demangle_(kernel.name.c_str()),
                   .category = "kernel",
                   .correlation = kernel.correlation == 0 ? -1 : std::int64_t{kernel.correlation},
                   .arguments = arguments});
  }
  if (const std::uint64_t missed = timer_->take_missed(); missed > 0)
    writer.dropped("kernel launches that could not be timed by CUDA events", missed);
}

void Tracer::count_losses(wire::Writer& writer) {
  std::size_t dropped = 0;
  if (cupti_.dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS && dropped > 0)
    writer.dropped("CUDA activity records that CUPTI had no room for", dropped);
  if (const std::uint64_t refused = buffers_->take_refused(); refused > 0)
    writer.dropped("requests of CUPTI for a buffer beyond the memory cap", refused);
}

/// Also now and then, for a program that does not come to its end.
void Tracer::say_at_end(wire::Writer& writer) {
  const ClockQuality& clock = clock_.quality();
  writer.fact(pid_, "cuda.clock.error_ns", std::to_string(clock.error));
  writer.fact(pid_, "cuda.clock.readings", std::to_string(clock.readings));
  writer.fact(pid_, "cuda.clock.drift_ppm", std::to_string(clock.drift_ppm));
  if (clock.jumps > 0) writer.fact(pid_, "cuda.clock.jumps", std::to_string(clock.jumps));
  writer.fact(pid_, "cuda.records", std::to_string(converter_->counts().records));
  if (const std::uint64_t launches = converter_->counts().programmatic; launches > 0)
    writer.fact(pid_, "cuda.programmatic_launches", std::to_string(launches));
  if (const std::string cost = graph_cost_.text(); !cost.empty())
    writer.fact(pid_, "cuda.graph_nodes.cost", cost);
}

/// CUPTI is not called any more after this: the driver goes down next.
void Tracer::at_exit() noexcept {
  if (getpid() != pid_) return;
  ending_ = true;
  inside::Recorder::get().flush();
  recording_ = false;
}

}  // namespace fathom::cuda

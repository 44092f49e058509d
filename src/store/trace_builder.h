// TraceBuilder: small synthetic traces for unit tests, as a reader would have built them.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Builds a Trace in memory, event by event; times are ns. Host events go to the current thread
/// (`on_thread`), device events to the current stream (`on_stream`); both have a default.
///
///     TraceBuilder trace;
///     trace.step(1, 0, 1000);
///     trace.op("aten::mm", 100, 50).shapes("[[2,3],[3,4]]").sequence(7);
///     trace.runtime("cudaLaunchKernel", 110, 10, /*correlation=*/1);
///     trace.kernel("gemm", 200, 300, /*correlation=*/1).grid(8, 1, 1).block(128, 1, 1);
///     const Trace built = trace.build();
///
/// Events keep the order of the calls, which stands for the order of a file. Not thread-safe.
class TraceBuilder {
 public:
  /// A slice that was just added; further attributes are chained onto it. Converts to its id.
  class Event {
   public:
    Event(TraceBuilder& builder, SliceId id) : builder_(&builder), id_(id) {}
    // NOLINTNEXTLINE(google-explicit-constructor): `const SliceId id = trace.op(…)` must read well.
    operator SliceId() const { return id_; }
    [[nodiscard]] SliceId id() const { return id_; }

    Event& correlation(std::int64_t id);
    Event& external_id(std::int64_t id);
    /// The category as an (older) recorder spells it, instead of the usual one of its kind.
    Event& category(std::string_view spelling);
    /// Operators and annotations: canonical JSON text, e.g. "[[2,3],[]]".
    Event& shapes(std::string_view json);
    Event& types(std::string_view json);
    Event& strides(std::string_view json);
    Event& concrete(std::string_view json);
    Event& sequence(std::int64_t number, std::int64_t forward_thread = kAbsent);
    Event& flops(std::int64_t count);
    Event& stack(std::string_view text);
    Event& module(std::string_view text);
    /// Kernels.
    Event& grid(std::int32_t x, std::int32_t y, std::int32_t z);
    Event& block(std::int32_t x, std::int32_t y, std::int32_t z);
    Event& config(const LaunchConfig& config);
    Event& graph_node(std::int64_t node);
    /// Copies and fills.
    Event& memory(MemoryKind source, MemoryKind destination);
    /// Anything that carries collective metadata; `slice` is filled in.
    Event& collective(Collective metadata);
    /// Of the slice that was added last.
    Event& argument(std::string_view key, std::string_view value);

   private:
    TraceBuilder* builder_;
    SliceId id_;
  };

  TraceBuilder();

  /// Makes a thread current for the host events that follow, adding it when new.
  TraceBuilder& on_thread(std::int64_t tid, std::int64_t pid = 100, std::string_view name = {});
  /// Makes a stream current for the device events that follow, adding it when new.
  TraceBuilder& on_stream(std::int64_t stream, std::int32_t device = 0);

  Event op(std::string_view name, std::int64_t start, std::int64_t duration);
  Event annotation(std::string_view name, std::int64_t start, std::int64_t duration);
  /// The host annotation ProfilerStep#`number`.
  Event step(std::int64_t number, std::int64_t start, std::int64_t duration);
  Event runtime(std::string_view name, std::int64_t start, std::int64_t duration,
                std::int64_t correlation = kAbsent);
  Event driver(std::string_view name, std::int64_t start, std::int64_t duration,
               std::int64_t correlation = kAbsent);
  Event frame(std::string_view name, std::int64_t start, std::int64_t duration,
              std::int64_t id = kAbsent, std::int64_t parent = kAbsent,
              std::int64_t module_id = kAbsent);
  Event kernel(std::string_view name, std::int64_t start, std::int64_t duration,
               std::int64_t correlation = kAbsent);
  Event copy(CopyKind kind, std::int64_t start, std::int64_t duration,
             std::int64_t correlation = kAbsent, std::int64_t bytes = kAbsent);
  Event fill(std::int64_t start, std::int64_t duration, std::int64_t correlation = kAbsent,
             std::int64_t bytes = kAbsent);
  /// A cuda_sync record on the current stream.
  Event sync(std::string_view kind, std::int64_t start, std::int64_t duration,
             std::int64_t correlation = kAbsent, std::int64_t wait_stream = kAbsent,
             std::int64_t wait_event = kAbsent, std::int64_t wait_correlation = kAbsent);
  /// An annotation projected onto the current stream.
  Event gpu_annotation(std::string_view name, std::int64_t start, std::int64_t duration);
  /// Any other kind, on the current thread.
  Event slice(SliceKind kind, std::string_view name, std::int64_t start, std::int64_t duration);

  /// The current thread is in that statement, "train.py:12 step", as a capture file has it.
  Event line(std::string_view statement, std::int64_t start, std::int64_t duration);

  /// An allocator event on the current thread; device_type 0 is the CPU, 1 CUDA.
  TraceBuilder& memory(std::int64_t time, std::int64_t bytes, int device_type = 0, int device = -1,
                       std::int64_t address = 0, std::int64_t total_allocated = kAbsent,
                       std::int64_t total_reserved = kAbsent);
  /// An arrow of `category` ("ac2g", "fwdbwd") between two slices that were added before.
  TraceBuilder& flow(std::string_view category, std::int64_t id, SliceId from, SliceId to);
  TraceBuilder& sample(std::string_view series, std::int64_t time, double value);
  TraceBuilder& instant(std::string_view name, std::int64_t time);

  TraceBuilder& device(const Device& properties);
  TraceBuilder& distributed(const Distributed& info);
  TraceBuilder& fact(std::string_view key, std::string_view json);
  TraceBuilder& process(std::int64_t pid, std::string_view name, std::string_view labels = {});

  /// Hands the trace over: slices per track and span are counted; the builder is empty afterwards.
  [[nodiscard]] Trace build();

 private:
  Event add(SliceKind kind, TrackId track, std::string_view name, std::int64_t start,
            std::int64_t duration, std::uint32_t detail = SliceId::kNone);
  TrackId find_or_add(const Track& track);
  std::uint8_t category_row(std::string_view spelling, SliceKind kind);
  std::uint32_t op_detail(SliceId id);
  std::uint32_t kernel_detail(SliceId id);
  void change_signature(SliceId id, StringId Signature::*field, std::string_view json);
  void change_config(SliceId id, const LaunchConfig& config);

  Trace trace_;
  std::map<std::tuple<TrackKind, StringId, StringId>, TrackId> tracks_;  // kind, process, thread
  TrackId thread_;
  TrackId stream_;
};

}  // namespace fathom

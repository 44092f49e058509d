// Builds the columns of a small trace for tests, keeping the same invariants as the readers.
#include "store/trace_builder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "store/kineto_category.h"
#include "store/profiler_step.h"
#include "store/slice_appender.h"

namespace fathom {
namespace {

std::string_view copy_name(CopyKind kind) {
  switch (kind) {
    case CopyKind::h2d:
      return "Memcpy HtoD (Pageable -> Device)";
    case CopyKind::d2h:
      return "Memcpy DtoH (Device -> Pageable)";
    case CopyKind::d2d:
      return "Memcpy DtoD (Device -> Device)";
    case CopyKind::p2p:
      return "Memcpy PtoP (Device -> Device)";
    default:
      return "Memcpy Unknown";
  }
}

bool counts_for_span(SliceKind kind) {
  return is_host_work(kind) || is_device_activity(kind) || kind == SliceKind::python_function;
}

}  // namespace

TraceBuilder::TraceBuilder() {
  trace_.format = "test";
  on_thread(1);
}

TraceBuilder& TraceBuilder::on_thread(std::int64_t tid, std::int64_t pid, std::string_view name) {
  thread_ = find_or_add({.kind = TrackKind::host_thread,
                         .process = trace_.strings.intern(std::to_string(pid)),
                         .thread = trace_.strings.intern(std::to_string(tid)),
                         .pid = pid,
                         .tid = tid});
  if (!name.empty()) trace_.tracks[thread_.row()].name = trace_.strings.intern(name);
  return *this;
}

TraceBuilder& TraceBuilder::on_stream(std::int64_t stream, std::int32_t device) {
  stream_ = find_or_add({.kind = TrackKind::device_stream,
                         .process = trace_.strings.intern(std::to_string(device)),
                         .thread = trace_.strings.intern(std::to_string(stream)),
                         .pid = device,
                         .tid = stream,
                         .device = device,
                         .stream = stream});
  return *this;
}

TrackId TraceBuilder::find_or_add(const Track& track) {
  const auto [at, added] =
      tracks_.try_emplace({track.kind, track.process, track.thread}, TrackId(trace_.tracks.size()));
  if (added) trace_.tracks.push_back(track);
  return at->second;
}

std::uint8_t TraceBuilder::category_row(std::string_view spelling, SliceKind kind) {
  const StringId name = trace_.strings.intern(spelling);
  const auto same = [&](const Category& category) {
    return category.name == name && category.kind == kind;
  };
  const auto at = std::ranges::find_if(trace_.categories, same);
  if (at != trace_.categories.end())
    return static_cast<std::uint8_t>(at - trace_.categories.begin());
  trace_.categories.push_back({.name = name, .kind = kind});
  return static_cast<std::uint8_t>(trace_.categories.size() - 1);
}

TraceBuilder::Event TraceBuilder::add(SliceKind kind, TrackId track, std::string_view name,
                                      std::int64_t start, std::int64_t duration,
                                      std::uint32_t detail) {
  const std::uint8_t category = category_row(kineto_category(kind), kind);
  const SliceId id = SliceAppender(trace_).add({.track = track,
                                                .start = time_ns(start),
                                                .duration = duration_ns(duration),
                                                .name = trace_.strings.intern(name),
                                                .category = category,
                                                .detail = detail});
  return {*this, id};
}

TraceBuilder::Event TraceBuilder::op(std::string_view name, std::int64_t start,
                                     std::int64_t duration) {
  return add(SliceKind::cpu_op, thread_, name, start, duration);
}

TraceBuilder::Event TraceBuilder::annotation(std::string_view name, std::int64_t start,
                                             std::int64_t duration) {
  return add(SliceKind::user_annotation, thread_, name, start, duration);
}

TraceBuilder::Event TraceBuilder::step(std::int64_t number, std::int64_t start,
                                       std::int64_t duration) {
  return annotation(profiler_step_name(number), start, duration);
}

TraceBuilder::Event TraceBuilder::runtime(std::string_view name, std::int64_t start,
                                          std::int64_t duration, std::int64_t correlation) {
  return add(SliceKind::runtime, thread_, name, start, duration).correlation(correlation);
}

TraceBuilder::Event TraceBuilder::driver(std::string_view name, std::int64_t start,
                                         std::int64_t duration, std::int64_t correlation) {
  return add(SliceKind::driver, thread_, name, start, duration).correlation(correlation);
}

TraceBuilder::Event TraceBuilder::frame(std::string_view name, std::int64_t start,
                                        std::int64_t duration, std::int64_t id, std::int64_t parent,
                                        std::int64_t module_id) {
  const std::uint32_t detail = SliceAppender(trace_).add_detail(
      Frames::Row{.id = id, .parent = parent, .module_id = module_id});
  return add(SliceKind::python_function, thread_, name, start, duration, detail);
}

TraceBuilder::Event TraceBuilder::kernel(std::string_view name, std::int64_t start,
                                         std::int64_t duration, std::int64_t correlation) {
  if (!stream_.valid()) on_stream(7);
  Event event = add(SliceKind::kernel, stream_, name, start, duration).correlation(correlation);
  kernel_detail(event);
  return event;
}

TraceBuilder::Event TraceBuilder::copy(CopyKind kind, std::int64_t start, std::int64_t duration,
                                       std::int64_t correlation, std::int64_t bytes) {
  if (!stream_.valid()) on_stream(7);
  const std::uint32_t detail =
      SliceAppender(trace_).add_detail(Copies::Row{.bytes = bytes, .kind = kind});
  const bool fills = kind == CopyKind::memset;
  return add(fills ? SliceKind::memset : SliceKind::memcpy, stream_,
             fills ? "Memset (Device)" : copy_name(kind), start, duration, detail)
      .correlation(correlation);
}

TraceBuilder::Event TraceBuilder::fill(std::int64_t start, std::int64_t duration,
                                       std::int64_t correlation, std::int64_t bytes) {
  return copy(CopyKind::memset, start, duration, correlation, bytes);
}

TraceBuilder::Event TraceBuilder::sync(std::string_view kind, std::int64_t start,
                                       std::int64_t duration, std::int64_t correlation,
                                       std::int64_t wait_stream, std::int64_t wait_event,
                                       std::int64_t wait_correlation) {
  if (!stream_.valid()) on_stream(7);
  const std::uint32_t detail =
      SliceAppender(trace_).add_detail(Syncs::Row{.kind = trace_.strings.intern(kind),
                                                  .wait_stream = wait_stream,
                                                  .wait_event = wait_event,
                                                  .wait_correlation = wait_correlation});
  return add(SliceKind::sync, stream_, kind, start, duration, detail).correlation(correlation);
}

TraceBuilder::Event TraceBuilder::gpu_annotation(std::string_view name, std::int64_t start,
                                                 std::int64_t duration) {
  if (!stream_.valid()) on_stream(7);
  return add(SliceKind::gpu_user_annotation, stream_, name, start, duration);
}

TraceBuilder::Event TraceBuilder::slice(SliceKind kind, std::string_view name, std::int64_t start,
                                        std::int64_t duration) {
  return add(kind, thread_, name, start, duration);
}

TraceBuilder::Event TraceBuilder::line(std::string_view statement, std::int64_t start,
                                       std::int64_t duration) {
  const Track thread = trace_.tracks[thread_.row()];
  const TrackId track = find_or_add(
      {.kind = TrackKind::async,
       .process = thread.process,
       .thread = trace_.strings.intern("line " + std::string(trace_.text(thread.thread))),
       .pid = thread.pid,
       .tid = thread.tid});
  const SliceId id =
      SliceAppender(trace_).add({.track = track,
                                 .start = time_ns(start),
                                 .duration = duration_ns(duration),
                                 .name = trace_.strings.intern(statement),
                                 .category = category_row("line", SliceKind::other)});
  return {*this, id};
}

TraceBuilder& TraceBuilder::memory(std::int64_t time, std::int64_t bytes, int device_type,
                                   int device, std::int64_t address, std::int64_t total_allocated,
                                   std::int64_t total_reserved) {
  trace_.memory.append({.track = thread_,
                        .time = time_ns(time),
                        .address = address,
                        .bytes = bytes,
                        .total_allocated = total_allocated,
                        .total_reserved = total_reserved,
                        .device_type = static_cast<std::int8_t>(device_type),
                        .device = static_cast<std::int8_t>(device)});
  return *this;
}

TraceBuilder& TraceBuilder::flow(std::string_view category, std::int64_t id, SliceId from,
                                 SliceId to) {
  const StringId name = trace_.strings.intern(category);
  const auto end = [&](SliceId slice, FlowPhase phase) {
    const Slices::Row at = trace_.slices.row(slice.row());
    trace_.flows.append(
        {.track = at.track, .time = at.start, .id = id, .category = name, .phase = phase});
  };
  end(from, FlowPhase::start);
  end(to, FlowPhase::finish);
  return *this;
}

TraceBuilder& TraceBuilder::sample(std::string_view series, std::int64_t time, double value) {
  const Track& thread = trace_.tracks[thread_.row()];
  const TrackId track = find_or_add({.kind = TrackKind::counter,
                                     .process = thread.process,
                                     .thread = trace_.strings.intern(series),
                                     .pid = thread.pid});
  trace_.samples.append({.track = track, .time = time_ns(time), .value = value});
  return *this;
}

TraceBuilder& TraceBuilder::instant(std::string_view name, std::int64_t time) {
  trace_.instants.append(
      {.track = thread_, .time = time_ns(time), .name = trace_.strings.intern(name)});
  return *this;
}

TraceBuilder& TraceBuilder::device(const Device& properties) {
  trace_.devices.push_back(properties);
  return *this;
}

TraceBuilder& TraceBuilder::distributed(const Distributed& info) {
  trace_.distributed = info;
  return *this;
}

TraceBuilder& TraceBuilder::fact(std::string_view key, std::string_view json) {
  trace_.facts.push_back({.key = std::string(key), .value = std::string(json)});
  return *this;
}

TraceBuilder& TraceBuilder::process(std::int64_t pid, std::string_view name,
                                    std::string_view labels) {
  trace_.processes.push_back({.id = trace_.strings.intern(std::to_string(pid)),
                              .name = trace_.strings.intern(name),
                              .labels = trace_.strings.intern(labels)});
  return *this;
}

std::uint32_t TraceBuilder::op_detail(SliceId id) {
  std::uint32_t& detail = trace_.slices.detail[id.row()];
  if (detail == SliceId::kNone) {
    detail = SliceAppender(trace_).add_detail(Ops::Row());
  }
  return detail;
}

std::uint32_t TraceBuilder::kernel_detail(SliceId id) {
  std::uint32_t& detail = trace_.slices.detail[id.row()];
  if (detail == SliceId::kNone) {
    detail = SliceAppender(trace_).add_detail(Kernels::Row());
    change_config(id, LaunchConfig());
  }
  return detail;
}

void TraceBuilder::change_signature(SliceId id, StringId Signature::*field, std::string_view json) {
  const std::uint32_t row = op_detail(id);
  const SignatureId old = trace_.ops.signature[row];
  Signature changed = old.valid() ? trace_.signatures[old.row()] : Signature();
  changed.*field = trace_.strings.intern(json);
  const auto at = std::ranges::find(trace_.signatures, changed);
  trace_.ops.signature[row] = SignatureId(static_cast<std::size_t>(at - trace_.signatures.begin()));
  if (at == trace_.signatures.end()) trace_.signatures.push_back(changed);
}

void TraceBuilder::change_config(SliceId id, const LaunchConfig& config) {
  const std::uint32_t row = kernel_detail(id);
  const auto at = std::ranges::find(trace_.launch_configs, config);
  trace_.kernels.config[row] =
      LaunchConfigId(static_cast<std::size_t>(at - trace_.launch_configs.begin()));
  if (at == trace_.launch_configs.end()) trace_.launch_configs.push_back(config);
}

Trace TraceBuilder::build() {
  const Slices& slices = trace_.slices;
  bool any = false;
  for (std::size_t row = 0; row < slices.size(); ++row) {
    const SliceId id(row);
    if (!counts_for_span(trace_.kind(id))) continue;
    const Interval own{slices.start[row], slices.end(id)};
    trace_.span =
        any ? Interval{std::min(trace_.span.begin, own.begin), std::max(trace_.span.end, own.end)}
            : own;
    any = true;
  }
  std::ranges::sort(trace_.collectives, {}, &Collective::slice);
  tracks_.clear();
  return std::exchange(trace_, Trace());
}

using Event = TraceBuilder::Event;

Event& Event::correlation(std::int64_t id) {
  builder_->trace_.slices.correlation[id_.row()] = id;
  return *this;
}

Event& Event::external_id(std::int64_t id) {
  builder_->trace_.slices.external_id[id_.row()] = id;
  return *this;
}

Event& Event::category(std::string_view spelling) {
  Trace& trace = builder_->trace_;
  const std::uint8_t old = trace.slices.category[id_.row()];
  const std::uint8_t row = builder_->category_row(spelling, trace.categories[old].kind);
  --trace.categories[old].slices;
  ++trace.categories[row].slices;
  trace.slices.category[id_.row()] = row;
  return *this;
}

Event& Event::shapes(std::string_view json) {
  builder_->change_signature(id_, &Signature::shapes, json);
  return *this;
}

Event& Event::types(std::string_view json) {
  builder_->change_signature(id_, &Signature::types, json);
  return *this;
}

Event& Event::strides(std::string_view json) {
  builder_->change_signature(id_, &Signature::strides, json);
  return *this;
}

Event& Event::concrete(std::string_view json) {
  builder_->change_signature(id_, &Signature::concrete, json);
  return *this;
}

Event& Event::sequence(std::int64_t number, std::int64_t forward_thread) {
  const std::uint32_t row = builder_->op_detail(id_);
  builder_->trace_.ops.sequence[row] = number;
  builder_->trace_.ops.forward_thread[row] = forward_thread;
  return *this;
}

Event& Event::flops(std::int64_t count) {
  builder_->trace_.ops.flops[builder_->op_detail(id_)] = count;
  return *this;
}

Event& Event::stack(std::string_view text) {
  builder_->trace_.ops.stack[builder_->op_detail(id_)] = builder_->trace_.strings.intern(text);
  return *this;
}

Event& Event::module(std::string_view text) {
  builder_->trace_.ops.module[builder_->op_detail(id_)] = builder_->trace_.strings.intern(text);
  return *this;
}

Event& Event::grid(std::int32_t x, std::int32_t y, std::int32_t z) {
  const std::uint32_t row = builder_->kernel_detail(id_);
  LaunchConfig changed =
      builder_->trace_.launch_configs[builder_->trace_.kernels.config[row].row()];
  changed.grid = {x, y, z};
  return config(changed);
}

Event& Event::block(std::int32_t x, std::int32_t y, std::int32_t z) {
  const std::uint32_t row = builder_->kernel_detail(id_);
  LaunchConfig changed =
      builder_->trace_.launch_configs[builder_->trace_.kernels.config[row].row()];
  changed.block = {x, y, z};
  return config(changed);
}

Event& Event::config(const LaunchConfig& config) {
  builder_->change_config(id_, config);
  return *this;
}

Event& Event::graph_node(std::int64_t node) {
  const std::uint32_t row = builder_->kernel_detail(id_);
  builder_->trace_.kernels.graph_node[row] = node;
  return *this;
}

Event& Event::memory(MemoryKind source, MemoryKind destination) {
  const std::uint32_t row = builder_->trace_.slices.detail[id_.row()];
  builder_->trace_.copies.source[row] = source;
  builder_->trace_.copies.destination[row] = destination;
  return *this;
}

Event& Event::collective(Collective metadata) {
  metadata.slice = id_;
  builder_->trace_.collectives.push_back(metadata);
  return *this;
}

Event& Event::argument(std::string_view key, std::string_view value) {
  StringPool& strings = builder_->trace_.strings;
  builder_->trace_.slice_arguments.push_back(
      {static_cast<std::uint32_t>(id_.row()), strings.intern(key), strings.intern(value)});
  return *this;
}

}  // namespace fathom

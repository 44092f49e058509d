// Turns device records into kernels, copies and waits of a trace.
#include <algorithm>

#include "formats/fathom_wire/trace_maker.h"
#include "store/slice_appender.h"

namespace fathom::own {
namespace {

CopyKind copy_kind(std::string_view word) {
  struct Word {
    std::string_view text;
    CopyKind kind;
  };
  constexpr Word kWords[] = {
      {"HtoD", CopyKind::h2d},   {"DtoH", CopyKind::d2h},     {"DtoD", CopyKind::d2d},
      {"PtoP", CopyKind::p2p},   {"HtoH", CopyKind::h2h},     {"HtoA", CopyKind::array},
      {"AtoH", CopyKind::array}, {"AtoA", CopyKind::array},   {"AtoD", CopyKind::array},
      {"DtoA", CopyKind::array}, {"Memset", CopyKind::memset}};
  const auto* const at = std::ranges::find(kWords, word, &Word::text);
  return at == std::end(kWords) ? CopyKind::unknown : at->kind;
}

MemoryKind memory_kind(std::string_view word) {
  if (word == "Pinned") return MemoryKind::pinned;
  if (word == "Pageable") return MemoryKind::pageable;
  if (word.starts_with("Device")) return MemoryKind::device;
  if (word == "Array") return MemoryKind::array;
  if (word.starts_with("Managed")) return MemoryKind::managed;
  return MemoryKind::unknown;
}

}  // namespace

/// As a trace of torch.profiler has them: the device is the process, the stream the thread.
TrackId TraceMaker::stream_track(std::int32_t device, std::uint32_t context, std::int64_t stream) {
  const auto [at, added] = streams_.try_emplace({device, context, stream}, TrackId());
  if (!added) return at->second;
  const auto first = first_context_.try_emplace({device, stream}, context).first->second;
  std::string thread = std::to_string(stream);
  if (first != context) thread += " of context " + std::to_string(context);
  Track made;
  made.kind = TrackKind::device_stream;
  made.process = trace_.strings.intern(std::to_string(device));
  made.thread = trace_.strings.intern(thread);
  made.pid = device;
  made.tid = stream;
  made.device = device;
  made.stream = stream;
  made.name = trace_.strings.intern("stream " + thread);
  at->second = TrackId(trace_.tracks.size());
  trace_.tracks.push_back(made);
  return at->second;
}

void TraceMaker::device(const wire::DeviceActivity& record, std::uint64_t offset) {
  owner_ = Owner::none;
  if (!true_time(record.start, offset)) return;
  const std::uint8_t row = category(record.category, offset);
  const SliceKind kind = trace_.categories[row].kind;
  add_slice(stream_track(std::max(record.device, 0), record.context, record.stream), record.start,
            true_duration(record.duration, offset), text(record.name, offset), row, -1);
  trace_.slices.correlation[trace_.slices.size() - 1] = known(record.correlation);
  std::uint32_t& detail = trace_.slices.detail[trace_.slices.size() - 1];
  SliceAppender appender(trace_);
  if (kind == SliceKind::kernel) {
    detail = appender.add_detail(
        Kernels::Row{.config = config_of({}), .graph_node = known(record.node)});
  } else if (kind == SliceKind::memcpy) {
    detail = appender.add_detail(Copies::Row());
  } else if (kind == SliceKind::memset) {
    detail = appender.add_detail(Copies::Row{.kind = CopyKind::memset});
  } else if (kind == SliceKind::sync) {
    detail = appender.add_detail(Syncs::Row{.kind = text(record.name, offset)});
  }
  owner_ = Owner::slice;
}

LaunchConfigId TraceMaker::config_of(const LaunchConfig& config) {
  const auto [at, added] =
      configs_.try_emplace(config, LaunchConfigId(trace_.launch_configs.size()));
  if (added) trace_.launch_configs.push_back(config);
  return at->second;
}

void TraceMaker::launch(const wire::Launch& record, std::uint64_t offset) {
  if (owner_ != Owner::slice) return;
  const std::uint32_t detail = trace_.slices.detail.back();
  if (detail == SliceId::kNone ||
      trace_.kind(SliceId(trace_.slices.size() - 1)) != SliceKind::kernel) {
    trace_.import.add(Repair::wrong_type, offset, "a launch of something that is not a kernel");
    return;
  }
  LaunchConfig config;
  const auto size = [](std::int32_t value) { return std::max(value, 0); };
  std::ranges::transform(record.grid, config.grid.begin(), size);
  std::ranges::transform(record.block, config.block.begin(), size);
  config.registers = std::max(record.registers, -1);
  if (record.static_shared >= 0 && record.dynamic_shared >= 0)
    config.shared_memory = std::int64_t{record.static_shared} + record.dynamic_shared;
  trace_.kernels.config[detail] = config_of(config);
}

void TraceMaker::copy(const wire::Copy& record, std::uint64_t offset) {
  if (owner_ != Owner::slice) return;
  const std::uint32_t detail = trace_.slices.detail.back();
  const SliceKind kind = trace_.kind(SliceId(trace_.slices.size() - 1));
  if (detail == SliceId::kNone || (kind != SliceKind::memcpy && kind != SliceKind::memset)) {
    trace_.import.add(Repair::wrong_type, offset, "bytes of something that is not a copy");
    return;
  }
  trace_.copies.bytes[detail] = known(record.bytes);
  if (kind == SliceKind::memcpy) trace_.copies.kind[detail] = copy_kind(record.kind);
  trace_.copies.source[detail] = memory_kind(record.source);
  trace_.copies.destination[detail] = memory_kind(record.destination);
}

void TraceMaker::wait(const wire::Wait& record, std::uint64_t offset) {
  if (owner_ != Owner::slice) return;
  const std::uint32_t detail = trace_.slices.detail.back();
  if (detail == SliceId::kNone ||
      trace_.kind(SliceId(trace_.slices.size() - 1)) != SliceKind::sync) {
    trace_.import.add(Repair::wrong_type, offset, "a wait of something that does not wait");
    return;
  }
  trace_.syncs.kind[detail] = text(record.kind, offset);
  trace_.syncs.wait_stream[detail] = known(record.stream);
  trace_.syncs.wait_event[detail] = known(record.event);
  trace_.syncs.wait_correlation[detail] = known(record.correlation);
}

void TraceMaker::call(const wire::Call& record, std::uint64_t offset) {
  owner_ = Owner::none;
  if (!true_time(record.start, offset)) return;
  add_slice(track_of(record.category, record.pid, record.tid), record.start,
            true_duration(record.duration, offset), text(record.name, offset),
            category(record.category, offset), -1);
  trace_.slices.correlation[trace_.slices.size() - 1] = known(record.correlation);
  trace_.slices.external_id[trace_.slices.size() - 1] = known(record.external);
  owner_ = Owner::slice;
}

/// The sum of what is taken is counted here: CUDA reports each amount alone.
void TraceMaker::memory(const wire::MemoryOperation& record, std::uint64_t offset) {
  owner_ = Owner::none;
  if (!true_time(record.time, offset)) return;
  const bool host = record.kind == "Pinned" || record.kind == "Pageable";
  const std::int32_t device = host ? -1 : std::clamp(record.device, -1, INT8_MAX);
  std::int64_t& allocated = allocated_[device];
  std::int64_t sum = 0;
  if (__builtin_add_overflow(allocated, record.bytes, &sum)) {
    trace_.import.add(Repair::number_out_of_range, offset, "bytes of memory");
    return;
  }
  // What was taken before the recording is given back in it.
  allocated = std::max<std::int64_t>(0, sum);
  trace_.memory.append({.track = track_of({}, record.pid, record.pid),
                        .time = time_ns(record.time),
                        .address = static_cast<std::int64_t>(record.address),
                        .bytes = record.bytes,
                        .total_allocated = allocated,
                        .total_reserved = known(record.reserved),
                        .device_type = static_cast<std::int8_t>(host ? 0 : 1),
                        .device = static_cast<std::int8_t>(device)});
  note_time(record.time);
}

}  // namespace fathom::own

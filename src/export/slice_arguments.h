// What is known of a slice beside its name and times, under the names that Kineto gives it.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "store/trace.h"

namespace fathom {

namespace export_detail {

template <typename Sink>
void whole(Sink& sink, std::string_view key, std::int64_t value) {
  if (value != kAbsent) sink.integer(key, value);
}
template <typename Sink>
void text(Sink& sink, std::string_view key, StringId value) {
  if (value.valid()) sink.text(key, value);
}
template <typename Sink>
void json(Sink& sink, std::string_view key, StringId value) {
  if (value.valid()) sink.json(key, value);
}
template <typename Sink>
void real(Sink& sink, std::string_view key, double value) {
  if (value != -1) sink.real(key, value);
}
template <typename Sink>
void sizes(Sink& sink, std::string_view key, const std::array<std::int32_t, 3>& value) {
  if (value != std::array<std::int32_t, 3>{0, 0, 0}) sink.sizes(key, value);
}

template <typename Sink>
void operator_arguments(const Trace& trace, std::uint32_t row, Sink& sink) {
  const Ops& ops = trace.ops;
  const SignatureId signature = ops.signature[row];
  if (signature.valid()) {
    const Signature& said = trace.signatures[signature.row()];
    json(sink, "Concrete Inputs", said.concrete);
    json(sink, "Input type", said.types);
    json(sink, "Input Strides", said.strides);
    json(sink, "Input Dims", said.shapes);
  }
  whole(sink, "Sequence number", ops.sequence[row]);
  whole(sink, "Fwd thread id", ops.forward_thread[row]);
  whole(sink, "flops", ops.flops[row]);
  text(sink, "Call stack", ops.stack[row]);
  text(sink, "Module Hierarchy", ops.module[row]);
}

template <typename Sink>
void kernel_arguments(const Trace& trace, std::uint32_t row, Sink& sink) {
  const LaunchConfigId id = trace.kernels.config[row];
  if (id.valid()) {
    const LaunchConfig& config = trace.launch_configs[id.row()];
    if (config.registers != -1) sink.integer("registers per thread", config.registers);
    whole(sink, "shared memory", config.shared_memory);
    real(sink, "blocks per SM", config.blocks_per_sm);
    real(sink, "warps per SM", config.warps_per_sm);
    sizes(sink, "grid", config.grid);
    sizes(sink, "block", config.block);
    real(sink, "est. achieved occupancy %", config.occupancy_percent);
  }
  whole(sink, "graph node id", trace.kernels.graph_node[row]);
}

template <typename Sink>
void detail_arguments(const Trace& trace, SliceKind kind, std::uint32_t row, Sink& sink) {
  if (row == SliceId::kNone) return;
  switch (kind) {
    case SliceKind::cpu_op:
    case SliceKind::user_annotation:
      return operator_arguments(trace, row, sink);
    case SliceKind::kernel:
      return kernel_arguments(trace, row, sink);
    case SliceKind::memcpy:
    case SliceKind::memset:
      return whole(sink, "bytes", trace.copies.bytes[row]);
    case SliceKind::python_function:
      whole(sink, "Python id", trace.frames.id[row]);
      whole(sink, "Python parent id", trace.frames.parent[row]);
      return whole(sink, "Python module id", trace.frames.module_id[row]);
    case SliceKind::sync:
      text(sink, "cuda_sync_kind", trace.syncs.kind[row]);
      whole(sink, "wait_on_stream", trace.syncs.wait_stream[row]);
      whole(sink, "wait_on_cuda_event_id", trace.syncs.wait_event[row]);
      return whole(sink, "wait_on_cuda_event_record_corr_id", trace.syncs.wait_correlation[row]);
    default:
      return;
  }
}

template <typename Sink>
void collective_arguments(const Trace& trace, SliceId slice, Sink& sink) {
  const auto at = std::ranges::lower_bound(trace.collectives, slice, {}, &Collective::slice);
  if (at == trace.collectives.end() || at->slice != slice) return;
  // Readers recognise a collective by this key.
  sink.text("Collective name", at->name.valid() ? at->name : StringId(0));
  text(sink, "dtype", at->dtype);
  whole(sink, "In msg nelems", at->in_elements);
  whole(sink, "Out msg nelems", at->out_elements);
  whole(sink, "Group size", at->group_size);
  text(sink, "Process Group Name", at->group_name);
  text(sink, "Process Group Description", at->group_description);
  text(sink, "Process Group Ranks", at->ranks);
  whole(sink, "Seq", at->sequence);
}

}  // namespace export_detail

/// Calls sink.integer(key, value), .real(key, value), .text(key, id), .json(key, id) or
/// .sizes(key, three numbers) for each argument that the slice has. O(log n).
template <typename Sink>
void visit_arguments(const Trace& trace, SliceId slice, Sink& sink) {
  using export_detail::whole;
  const std::size_t row = slice.row();
  const Track& track = trace.track(slice);
  whole(sink, "External id", trace.slices.external_id[row]);
  if (track.kind == TrackKind::device_stream) {
    if (track.device >= 0) sink.integer("device", track.device);
    whole(sink, "stream", track.stream);
  }
  whole(sink, "correlation", trace.slices.correlation[row]);
  export_detail::detail_arguments(trace, trace.kind(slice), trace.slices.detail[row], sink);
  if (!trace.collectives.empty()) export_detail::collective_arguments(trace, slice, sink);
  if (!trace.numbers.empty()) whole(sink, "number", trace.number(slice));
  if (trace.slice_arguments.empty()) return;
  for (const Argument& argument : trace.arguments(slice))
    sink.text(trace.text(argument.key), argument.value);
}

}  // namespace fathom

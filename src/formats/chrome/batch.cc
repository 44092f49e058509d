// Joins batches of rows: columns are appended, row numbers are shifted.
#include "formats/chrome/batch.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace fathom::chrome {
namespace {

/// Calls visit(ours, theirs) for every column of every table except Slices::detail.
template <typename A, typename B, typename Visit>
void for_each_column(A& ours, B& theirs, Visit visit) {
  visit(ours.slices.track, theirs.slices.track);
  visit(ours.slices.start, theirs.slices.start);
  visit(ours.slices.duration, theirs.slices.duration);
  visit(ours.slices.name, theirs.slices.name);
  visit(ours.slices.category, theirs.slices.category);
  visit(ours.slices.correlation, theirs.slices.correlation);
  visit(ours.slices.external_id, theirs.slices.external_id);
  visit(ours.ops.signature, theirs.ops.signature);
  visit(ours.ops.sequence, theirs.ops.sequence);
  visit(ours.ops.forward_thread, theirs.ops.forward_thread);
  visit(ours.ops.flops, theirs.ops.flops);
  visit(ours.ops.stack, theirs.ops.stack);
  visit(ours.ops.module, theirs.ops.module);
  visit(ours.kernels.config, theirs.kernels.config);
  visit(ours.kernels.graph_node, theirs.kernels.graph_node);
  visit(ours.copies.bytes, theirs.copies.bytes);
  visit(ours.copies.kind, theirs.copies.kind);
  visit(ours.copies.source, theirs.copies.source);
  visit(ours.copies.destination, theirs.copies.destination);
  visit(ours.frames.id, theirs.frames.id);
  visit(ours.frames.parent, theirs.frames.parent);
  visit(ours.frames.module_id, theirs.frames.module_id);
  visit(ours.syncs.kind, theirs.syncs.kind);
  visit(ours.syncs.wait_stream, theirs.syncs.wait_stream);
  visit(ours.syncs.wait_event, theirs.syncs.wait_event);
  visit(ours.syncs.wait_correlation, theirs.syncs.wait_correlation);
  visit(ours.flows.track, theirs.flows.track);
  visit(ours.flows.time, theirs.flows.time);
  visit(ours.flows.id, theirs.flows.id);
  visit(ours.flows.category, theirs.flows.category);
  visit(ours.flows.phase, theirs.flows.phase);
  visit(ours.memory.track, theirs.memory.track);
  visit(ours.memory.time, theirs.memory.time);
  visit(ours.memory.address, theirs.memory.address);
  visit(ours.memory.bytes, theirs.memory.bytes);
  visit(ours.memory.total_allocated, theirs.memory.total_allocated);
  visit(ours.memory.total_reserved, theirs.memory.total_reserved);
  visit(ours.memory.device_type, theirs.memory.device_type);
  visit(ours.memory.device, theirs.memory.device);
  visit(ours.samples.track, theirs.samples.track);
  visit(ours.samples.time, theirs.samples.time);
  visit(ours.samples.value, theirs.samples.value);
  visit(ours.instants.track, theirs.instants.track);
  visit(ours.instants.time, theirs.instants.time);
  visit(ours.instants.name, theirs.instants.name);
}

/// How many rows each detail table has, by the kind of the slices that point into it.
std::array<std::uint32_t, kSliceKinds> detail_rows(const Batch& batch) {
  std::array<std::uint32_t, kSliceKinds> rows{};
  const auto set = [&rows](SliceKind kind, std::size_t n) {
    rows[static_cast<std::size_t>(kind)] = static_cast<std::uint32_t>(n);
  };
  set(SliceKind::cpu_op, batch.ops.size());
  set(SliceKind::user_annotation, batch.ops.size());
  set(SliceKind::kernel, batch.kernels.size());
  set(SliceKind::memcpy, batch.copies.size());
  set(SliceKind::memset, batch.copies.size());
  set(SliceKind::python_function, batch.frames.size());
  set(SliceKind::sync, batch.syncs.size());
  return rows;
}

}  // namespace

void Batch::clear() {
  for_each_column(*this, *this, [](auto& column, const auto&) { column.clear(); });
  slices.detail.clear();
  collectives.clear();
  pairs.clear();
  metadata.clear();
  zero_times.clear();
  jumps.clear();
  devices.clear();
  log.clear();
  events = 0;
}

void Batch::append(const Batch& batch) {
  const auto first_slice = static_cast<std::uint32_t>(slices.size());
  const std::array<std::uint32_t, kSliceKinds> first_detail = detail_rows(*this);
  for_each_column(*this, batch, [](auto& ours, const auto& theirs) { ours.append(theirs); });

  std::array<std::uint32_t, 256> shift{};
  for (std::size_t i = 0; i < shift.size(); ++i)
    shift[i] = first_detail[static_cast<std::size_t>(batch.kinds[i])];
  slices.detail.append(batch.slices.detail);
  for (std::size_t row = first_slice; row < slices.size(); ++row) {
    std::uint32_t& detail = slices.detail[row];
    if (detail != SliceId::kNone) detail += shift[slices.category[row]];
  }
  for (Collective collective : batch.collectives) {
    collective.slice.value += first_slice;
    collectives.push_back(collective);
  }
  for (PairEnd pair : batch.pairs) {
    if (pair.begin) pair.slice += first_slice;
    if (pair.op != Id<OpTable>::kNone)
      pair.op += first_detail[static_cast<std::size_t>(SliceKind::cpu_op)];
    pairs.push_back(pair);
  }
  for (const Suspect& suspect : batch.zero_times)
    zero_times.push_back({suspect.slice + first_slice, suspect.offset});
  metadata.insert(metadata.end(), batch.metadata.begin(), batch.metadata.end());
  devices.insert(devices.end(), batch.devices.begin(), batch.devices.end());
  log.merge(batch.log);
  events += batch.events;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (batch.kinds[i] != SliceKind{}) kinds[i] = batch.kinds[i];
  }
}

}  // namespace fathom::chrome

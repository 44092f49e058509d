// Joins backward to forward operators by sequence number and thread.
#include "analysis/structure/forward_ops.h"

#include <algorithm>
#include <array>
#include <vector>

namespace fathom {
namespace {

/// Calls visit(slice, sequence) for every operator with a sequence number, in the order of the
/// file.
template <typename Visit>
void for_each_sequence(const Trace& trace, const Visit& visit) {
  std::array<bool, 256> operators{};
  for (std::size_t i = 0; i < trace.categories.size(); ++i) {
    operators[i] = trace.categories[i].kind == SliceKind::cpu_op;
  }
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (!operators[trace.slices.category[row]]) continue;
    const SequenceOf sequence = sequence_of(trace, SliceId(row));
    if (sequence.sequence != kAbsent && sequence.sequence >= 0) visit(SliceId(row), sequence);
  }
}

}  // namespace

SequenceOf sequence_of(const Trace& trace, SliceId slice) {
  const std::uint32_t detail = trace.slices.detail[slice.row()];
  const SliceKind kind = trace.kind(slice);
  if (detail == SliceId::kNone || (kind != SliceKind::cpu_op && kind != SliceKind::user_annotation))
    return {};
  return {trace.ops.sequence[detail], trace.ops.forward_thread[detail]};
}

/// A thread counts its own sequence numbers, so that small ones occur on each: so many of them
/// vote.
constexpr std::size_t kMostThreads = 256;

std::map<std::int64_t, TrackId> torch_threads(const Trace& trace) {
  std::unordered_map<std::int64_t, std::vector<TrackId>> ran_on;  // by sequence number
  for_each_sequence(trace, [&](SliceId slice, SequenceOf sequence) {
    if (!sequence.is_forward()) return;
    std::vector<TrackId>& threads = ran_on[sequence.sequence];
    const TrackId thread = trace.slices.track[slice.row()];
    if (threads.size() == kMostThreads) return;
    if (std::ranges::find(threads, thread) == threads.end()) threads.push_back(thread);
  });
  std::map<std::int64_t, std::map<TrackId, std::uint64_t>> votes;
  for_each_sequence(trace, [&](SliceId, SequenceOf sequence) {
    if (!sequence.is_backward()) return;
    const auto threads = ran_on.find(sequence.sequence);
    if (threads == ran_on.end()) return;
    for (const TrackId thread : threads->second) ++votes[sequence.forward_thread][thread];
  });
  std::map<std::int64_t, TrackId> out;
  for (const auto& [number, counts] : votes) {
    out[number] =
        std::ranges::max_element(counts, {}, [](const auto& vote) { return vote.second; })->first;
  }
  return out;
}

ForwardOps::ForwardOps(const Trace& trace) : trace_(trace), threads_(torch_threads(trace)) {
  for_each_sequence(trace, [&](SliceId slice, SequenceOf sequence) {
    if (!sequence.is_forward()) return;
    const auto [at, added] =
        ops_.try_emplace({sequence.sequence, trace.slices.track[slice.row()]}, slice);
    if (!added && trace.slices.start[slice.row()] >= trace.slices.start[at->second.row()])
      at->second = slice;
  });
}

SliceId ForwardOps::of(SliceId backward) const {
  const SequenceOf sequence = sequence_of(trace_, backward);
  if (!sequence.is_backward()) return {};
  const auto thread = threads_.find(sequence.forward_thread);
  if (thread == threads_.end()) return {};
  const auto op = ops_.find({sequence.sequence, thread->second});
  return op == ops_.end() ? SliceId() : op->second;
}

}  // namespace fathom

// Sums the host's part of gaps that a late launch ended.
#include "rules/common/late_launches.h"

namespace fathom {
namespace {

/// A launch that takes longer loads something.
constexpr Duration kLongestLaunch = duration_ns(1'000'000);

/// Is it the host's, with the launch? What the accounting leaves unexplained before a kernel is a
/// launch that took longer than the median. Of work that was queued just before the gap, what is
/// left of its launch.
bool is_late(const Trace& trace, const Gap& gap, Bucket cause) {
  if (gap.opener == Opener::waiting) return cause == Bucket::launch_latency;
  if (gap.opener != Opener::ran_dry) return false;
  if (cause == Bucket::device_wait) {
    return trace.kind(gap.next) == SliceKind::kernel &&
           gap.interval.end - trace.slices.start[gap.launch.row()] < kLongestLaunch;
  }
  return cause == Bucket::dispatch || cause == Bucket::python || cause == Bucket::launch_latency;
}

}  // namespace

LateLaunches late_launches(const RuleContext& rules) {
  LateLaunches late;
  const DeviceAccounting& device = *rules.accounting.find(rules.device);
  std::uint32_t last = UINT32_MAX;
  for (const IdlePiece& piece : device.pieces) {
    const Gap& gap = device.gaps[piece.gap];
    if (!gap.next.valid() || !is_late(rules.trace(), gap, piece.cause)) continue;
    const Duration idle = rules.counted(piece.interval);
    if (idle <= Duration{}) continue;
    late.claims.push_back({.device = rules.device, .gap = piece.gap, .time = idle});
    if (piece.gap == last) continue;
    last = piece.gap;
    ++late.gaps;
    if (gap.late_op.valid()) late.ops.push_back(gap.late_op);
    if (gap.interval.length() > late.longest.length()) late.longest = gap.interval;
  }
  return late;
}

}  // namespace fathom

// Adds up idle pieces without a cause by what the recording lacks about them.
#include "rules/common/unexplained_idle.h"

#include <algorithm>
#include <numeric>

namespace fathom {
namespace {

Unexplained reason_of(const RuleContext& rules, const Gap& gap, Bucket cause) {
  if (!gap.next.valid()) return Unexplained::after;
  if (cause == Bucket::host_unknown && !gap.launch.valid()) return Unexplained::launch;
  if (gap.opener == Opener::start) return Unexplained::before;
  const bool graph = rules.context.links().replay[gap.next.row()] > 0;
  return graph ? Unexplained::graph : Unexplained::waits;
}

}  // namespace

Duration UnexplainedIdle::total() const {
  return std::accumulate(time.begin(), time.end(), Duration{});
}

Unexplained UnexplainedIdle::most() const {
  return static_cast<Unexplained>(std::ranges::max_element(time) - time.begin());
}

UnexplainedIdle unexplained_idle(const RuleContext& rules) {
  UnexplainedIdle found;
  const DeviceAccounting* const device = rules.accounting.find(rules.device);
  if (device == nullptr) return found;
  for (const IdlePiece& piece : device->pieces) {
    if (piece.cause != Bucket::device_wait && piece.cause != Bucket::host_unknown) continue;
    const Duration idle = rules.counted(piece.interval);
    if (idle <= Duration{}) continue;
    const Gap& gap = device->gaps[piece.gap];
    const auto reason = static_cast<std::size_t>(reason_of(rules, gap, piece.cause));
    found.time[reason] += idle;
    if (piece.interval.length() > found.longest[reason].length()) {
      found.longest[reason] = piece.interval;
      found.next[reason] = gap.next;
    }
  }
  return found;
}

}  // namespace fathom

// Divides the step among findings, so that no nanosecond counts twice.
#include "engine/diagnosis/divide.h"

#include <algorithm>

namespace fathom {

Ledger::Ledger(const RuleContext& rules) : rules_(rules) {
  if (const DeviceAccounting* const device = rules.accounting.find(rules.device)) {
    gaps_.reserve(device->gaps.size());
    for (const Gap& gap : device->gaps) gaps_.push_back(rules.counted(gap.interval));
    for (const IdlePiece& piece : device->pieces) {
      if (piece.cause == Bucket::warm_up) gaps_[piece.gap] -= rules.counted(piece.interval);
    }
    device_ = rules.accounting.credited;
    return;
  }
  host_.append(rules.self_times.span());
  gaps_.reserve(rules.accounting.host.size());
  for (const HostPiece& piece : rules.accounting.host) {
    const bool once = piece.bucket == HostBucket::warm_up;
    gaps_.push_back(piece.op.valid() || once ? Duration{} : rules.counted(piece.interval));
    if (!once || !piece.op.valid()) continue;
    Duration& own = host_[piece.op.row()];
    own -= std::min(own, piece.interval.length());
  }
}

Duration Ledger::grant(std::vector<Claim>& claims) {
  Duration sum{};
  for (Claim& claim : claims) {
    Duration* left = nullptr;
    if (claim.gap < gaps_.size() && claim.device == rules_.device) {
      left = &gaps_[claim.gap];
    } else if (claim.slice.valid() && is_device_activity(rules_.trace().kind(claim.slice))) {
      if (counts(claim.slice)) left = &device_.at(claim.slice.row());
    } else if (claim.slice.valid() && !host_.empty() && counts(claim.slice)) {
      left = &host_[claim.slice.row()];
    }
    claim.time = left == nullptr ? Duration{} : std::clamp(claim.time, Duration{}, *left);
    if (left != nullptr) *left -= claim.time;
    sum += claim.time;
  }
  std::erase_if(claims, [](const Claim& claim) { return claim.time == Duration{}; });
  return sum;
}

Duration Ledger::observed(const std::vector<Claim>& claims) const {
  Duration sum{};
  for (const Claim& claim : claims) {
    const bool gap = claim.gap < gaps_.size() && claim.device == rules_.device;
    const bool slice = claim.slice.valid() && counts(claim.slice) &&
                       (!host_.empty() || is_device_activity(rules_.trace().kind(claim.slice)));
    if (gap || slice) sum += std::max(claim.time, claim.whole);
  }
  return sum;
}

bool Ledger::counts(SliceId slice) const {
  const Trace& trace = rules_.trace();
  const bool other_device =
      is_device_activity(trace.kind(slice)) && trace.track(slice).device != rules_.device;
  return !other_device && rules_.counts(trace.slices.start[slice.row()]);
}

}  // namespace fathom

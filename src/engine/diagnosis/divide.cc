// Divides the step among findings, so that no nanosecond counts twice.
#include "engine/diagnosis/divide.h"

#include <algorithm>
#include <utility>

namespace fathom {

Ledger::Ledger(const RuleContext& rules) : rules_(rules) {
  if (const DeviceAccounting* const device = rules.accounting.find(rules.device)) {
    gaps_.reserve(device->gaps.size());
    for (const Gap& gap : device->gaps) gaps_.push_back(rules.counted(gap.interval));
    for (const IdlePiece& piece : device->pieces) {
      if (piece.cause == Bucket::warm_up) gaps_[piece.gap] -= rules.counted(piece.interval);
    }
    device_ = rules.accounting.credited;
    taken_device_ = device_.beside<Duration>();
    taken_gaps_.resize(gaps_.size());
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
  taken_host_.resize(host_.size());
  taken_gaps_.resize(gaps_.size());
}

Ledger::Part Ledger::part_of(const Claim& claim) {
  if (claim.gap < gaps_.size() && claim.device == rules_.device)
    return {&gaps_[claim.gap], &taken_gaps_[claim.gap]};
  if (!claim.slice.valid() || !counts(claim.slice)) return {};
  const std::size_t row = claim.slice.row();
  if (is_device_activity(rules_.trace().kind(claim.slice)))
    return {&device_.at(row), &taken_device_.at(row)};
  return host_.empty() ? Part{} : Part{&host_[row], &taken_host_[row]};
}

Ledger::Granted Ledger::grant(std::vector<Claim>& claims) {
  Granted granted;
  // What is put back to `taken` once all claims are looked at: several may be of one owner.
  std::vector<std::pair<Duration*, Duration>> taken;
  for (Claim& claim : claims) {
    const Part part = part_of(claim);
    if (part.left == nullptr) {
      claim.time = Duration{};
      continue;
    }
    const Duration wanted = std::max(claim.time, Duration{});
    claim.time = std::min(wanted, *part.left);
    const Duration shared = std::min(wanted - claim.time, *part.taken);
    *part.left -= claim.time;
    *part.taken -= shared;
    if (claim.time + shared > Duration{}) taken.emplace_back(part.taken, claim.time + shared);
    granted.time += claim.time;
    granted.shared += shared;
  }
  for (const auto& [owner, time] : taken) *owner += time;
  std::erase_if(claims, [](const Claim& claim) { return claim.time == Duration{}; });
  return granted;
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

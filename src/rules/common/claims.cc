// Claims on whole slices, on idle pieces of the device, and on pieces of the main thread.
#include "rules/common/claims.h"

#include <algorithm>

#include "rules/common/evidence.h"
#include "rules/common/main_thread.h"

namespace fathom {
namespace {

Duration scaled(Duration time, double fraction) {
  return duration_ns(static_cast<std::int64_t>(static_cast<double>(to_ns(time)) * fraction));
}

/// What a slice may be blamed for at most.
Duration own_time(const RuleContext& rules, SliceId slice) {
  if (is_device_activity(rules.trace().kind(slice))) {
    return rules.accounting.credited[slice.row()];
  }
  return rules.self_times[slice.row()];
}

}  // namespace

void Blamed::add(const RuleContext& rules, SliceId activity, SliceId op) {
  activities.push_back(activity);
  if (op.valid()) ops.push_back(op);
  time += own_time(rules, activity);
}

void claim_blamed(const RuleContext& rules, const Blamed& blamed, double fraction,
                  Finding& finding) {
  for (const SliceId activity : blamed.activities) {
    finding.claims.push_back(claim(rules, activity, fraction));
    finding.edits.scale.emplace_back(activity, static_cast<float>(1.0 - fraction));
  }
}

Claim claim(const RuleContext& rules, SliceId slice, double fraction) {
  const Duration whole = own_time(rules, slice);
  return {.slice = slice, .time = scaled(whole, fraction), .whole = whole};
}

Claim claim_gap(const RuleContext& rules, std::uint32_t gap, double fraction) {
  const DeviceAccounting* const device = rules.accounting.find(rules.device);
  const Duration whole = rules.counted(device->gaps[gap].interval);
  return {.device = rules.device, .gap = gap, .time = scaled(whole, fraction), .whole = whole};
}

Claim piece_claim(const RuleContext& rules, const HostPiece& piece, Duration time) {
  if (piece.op.valid()) return {.slice = piece.op, .time = time};
  const auto row = static_cast<std::uint32_t>(&piece - rules.accounting.host.data());
  return {.gap = row, .time = time};
}

void claim_host_work(const RuleContext& rules, std::span<const SliceId> slices, double fraction,
                     std::vector<Claim>& claims, std::initializer_list<Bucket> causes) {
  const Trace& trace = rules.trace();
  const DeviceAccounting* const device = rules.accounting.find(rules.device);
  if (device == nullptr) {
    for (const SliceId root : outermost_of(rules, slices)) {
      for (const SliceId inside : tree(rules, root))
        claims.push_back(claim(rules, inside, fraction));
    }
    return;
  }
  std::vector<SliceId> in_order(slices.begin(), slices.end());
  std::ranges::stable_sort(in_order, {}, [&](SliceId at) { return trace.slices.start[at.row()]; });
  Time done = Time::min();  // What ran beside what came before is claimed.
  for (const SliceId slice : in_order) {
    const Time begin = std::max(done, trace.slices.start[slice.row()]);
    const Time end = trace.slices.end(slice);
    if (end <= begin) continue;
    done = end;
    auto piece = std::ranges::upper_bound(device->pieces, begin, {},
                                          [](const IdlePiece& at) { return at.interval.end; });
    for (; piece != device->pieces.end() && piece->interval.begin < end; ++piece) {
      if (std::ranges::find(causes, piece->cause) == causes.end()) continue;
      const Interval part{std::max(begin, piece->interval.begin),
                          std::min(end, piece->interval.end)};
      const Duration whole = rules.counted(part);
      claims.push_back({.device = rules.device,
                        .gap = piece->gap,
                        .time = scaled(whole, fraction),
                        .whole = whole});
    }
  }
}

Duration claim_idle(const RuleContext& rules, const Interval& stretch,
                    std::initializer_list<Bucket> causes, std::vector<Claim>& claims,
                    double fraction, Duration budget) {
  const DeviceAccounting* const device = rules.accounting.find(rules.device);
  Duration sum{};
  if (device == nullptr) return sum;
  auto piece = std::ranges::upper_bound(device->pieces, stretch.begin, {},
                                        [](const IdlePiece& at) { return at.interval.end; });
  for (; piece != device->pieces.end() && piece->interval.begin < stretch.end && sum < budget;
       ++piece) {
    if (std::ranges::find(causes, piece->cause) == causes.end()) continue;
    const Duration idle = rules.counted({std::max(stretch.begin, piece->interval.begin),
                                         std::min(stretch.end, piece->interval.end)});
    const Duration wanted = scaled(idle, fraction);
    const Duration time = std::min(wanted, budget - sum);
    if (time <= Duration{}) continue;
    claims.push_back({.device = rules.device,
                      .gap = piece->gap,
                      .time = time,
                      .whole = time == wanted ? idle : time});
    sum += time;
  }
  return sum;
}

Duration idle_in(const RuleContext& rules, std::span<const Interval> stretches,
                 std::initializer_list<Bucket> causes) {
  std::vector<Claim> claims;
  Duration sum{};
  for (const Interval& stretch : stretches) sum += claim_idle(rules, stretch, causes, claims);
  return sum;
}

Duration claim_main_thread(const RuleContext& rules, const Interval& stretch,
                           std::initializer_list<HostBucket> buckets, std::vector<Claim>& claims,
                           RemovedTime* removed, Duration budget) {
  return for_each_part(rules, stretch, buckets, budget, [&](const HostPiece& piece, Duration time) {
    claims.push_back(piece_claim(rules, piece, time));
    if (removed != nullptr) removed->add(piece.op, time);
  });
}

void claim_callers(const RuleContext& rules, std::span<const SliceId> ops, double fraction,
                   Finding& finding) {
  if (rules.device >= 0) return;
  RemovedTime removed(rules);
  Duration sum{};
  const std::vector<HostPiece>& pieces = rules.accounting.host;
  for (const SliceId op : ops) {
    const Time start = rules.trace().slices.start[op.row()];
    const auto piece = std::ranges::lower_bound(
        pieces, start, {}, [](const HostPiece& at) { return at.interval.end; });
    if (piece == pieces.end() || piece->interval.end != start || !piece->op.valid()) continue;
    if (piece->bucket != HostBucket::python || piece->interval.length() > kLongestCall) continue;
    const auto whole = static_cast<double>(to_ns(rules.counted(piece->interval)));
    const Duration time = duration_ns(static_cast<std::int64_t>(whole * fraction));
    if (time <= Duration{}) continue;
    finding.claims.push_back({.slice = piece->op, .time = time});
    removed.add(piece->op, time);
    sum += time;
  }
  removed.to(finding.edits);
  if (sum <= Duration{}) return;
  finding.evidence.push_back({.text = "the Python right before them, which calls them, takes " +
                                      per_step(rules, sum) +
                                      (fraction < 1.0 ? " that would be saved" : ""),
                              .slices = {},
                              .where = {},
                              .location = {}});
}

Duration claim_stretch(const RuleContext& rules, const Interval& stretch,
                       std::vector<Claim>& claims) {
  if (rules.device >= 0) return claim_idle(rules, stretch, kHostWaits, claims);
  return claim_main_thread(rules, stretch, {}, claims);
}

Family family_of(HostBucket bucket) {
  switch (bucket) {
    case HostBucket::input:
      return Family::input;
    case HostBucket::communication:
      return Family::communication;
    case HostBucket::waiting:
      return Family::sync;
    case HostBucket::python:
      return Family::host;
    case HostBucket::warm_up:
      return Family::capture;
    default:
      return Family::compute;
  }
}

Duration total(const std::vector<Claim>& claims) {
  Duration sum{};
  for (const Claim& claim : claims) sum += claim.time;
  return sum;
}

Duration whole(const std::vector<Claim>& claims) {
  Duration sum{};
  for (const Claim& claim : claims) sum += std::max(claim.time, claim.whole);
  return sum;
}

}  // namespace fathom

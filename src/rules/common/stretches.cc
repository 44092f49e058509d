#include "rules/common/stretches.h"

#include <algorithm>

namespace fathom {
namespace {

/// The slice's own time: less its direct children's.
Duration own_time(const RuleContext& rules, SliceId slice) {
  if (!rules.self_times.empty()) return rules.self_times[slice.row()];
  const Trace& trace = rules.trace();
  Duration own = trace.slices.duration[slice.row()];
  for (const SliceId inside : tree(rules, slice)) {
    if (rules.context.nesting().parent[inside.row()] == slice) {
      own -= trace.slices.duration[inside.row()];
    }
  }
  return own;
}

/// Calls visit(piece, time) for what claim_main_thread() finds; returns the sum.
template <typename Visit>
Duration for_each_part(const RuleContext& rules, const Interval& stretch,
                       std::initializer_list<HostBucket> buckets, Duration budget,
                       const Visit& visit) {
  Duration sum{};
  for (const HostPiece& piece : main_thread_in(rules, stretch)) {
    if (buckets.size() > 0 && std::ranges::find(buckets, piece.bucket) == buckets.end()) continue;
    const Duration time = std::min(rules.counted({std::max(stretch.begin, piece.interval.begin),
                                                  std::min(stretch.end, piece.interval.end)}),
                                   budget - sum);
    if (time <= Duration{}) continue;
    sum += time;
    visit(piece, time);
  }
  return sum;
}

}  // namespace

void RemovedTime::add(SliceId slice, Duration time) {
  if (slice.valid() && time > Duration{}) removed_.emplace_back(slice, time);
}

void RemovedTime::add(const Interval& stretch, std::initializer_list<HostBucket> buckets) {
  for_each_part(rules_, stretch, buckets, Duration::max(),
                [this](const HostPiece& piece, Duration time) { add(piece.op, time); });
}

void RemovedTime::to(Edits& edits) {
  std::ranges::sort(removed_, {}, [](const auto& entry) { return entry.first; });
  for (auto at = removed_.begin(); at != removed_.end();) {
    const SliceId slice = at->first;
    Duration sum{};
    for (; at != removed_.end() && at->first == slice; ++at) sum += at->second;
    const auto own = static_cast<double>(to_ns(own_time(rules_, slice)));
    if (own <= 0) continue;
    const double left = std::max(0.0, 1.0 - static_cast<double>(to_ns(sum)) / own);
    edits.scale.emplace_back(slice, static_cast<float>(left));
  }
}

std::span<const HostPiece> main_thread_in(const RuleContext& rules, const Interval& stretch) {
  const std::vector<HostPiece>& pieces = rules.accounting.host;
  const auto first = std::ranges::upper_bound(pieces, stretch.begin, {},
                                              [](const HostPiece& at) { return at.interval.end; });
  const auto last =
      std::lower_bound(first, pieces.end(), stretch.end,
                       [](const HostPiece& at, Time end) { return at.interval.begin < end; });
  return {first, last};
}

Claim piece_claim(const RuleContext& rules, const HostPiece& piece, Duration time) {
  if (piece.op.valid()) return {.slice = piece.op, .time = time};
  const auto row = static_cast<std::uint32_t>(&piece - rules.accounting.host.data());
  return {.gap = row, .time = time};
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
  }
  removed.to(finding.edits);
}

Duration claim_stretch(const RuleContext& rules, const Interval& stretch,
                       std::vector<Claim>& claims) {
  if (rules.device >= 0) return claim_idle(rules, stretch, kHostWaits, claims);
  return claim_main_thread(rules, stretch, {}, claims);
}

std::vector<Interval> merged(std::vector<Interval> stretches) {
  std::ranges::sort(stretches, {}, &Interval::begin);
  std::vector<Interval> result;
  for (const Interval& stretch : stretches) {
    if (result.empty() || stretch.begin > result.back().end) {
      result.push_back(stretch);
    } else {
      result.back().end = std::max(result.back().end, stretch.end);
    }
  }
  return result;
}

Interval interval_of(const Trace& trace, SliceId slice) {
  return {trace.slices.start[slice.row()], trace.slices.end(slice)};
}

Duration median_of(std::vector<Duration> durations) {
  if (durations.empty()) return {};
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::ranges::nth_element(durations, middle);
  return *middle;
}

std::vector<Duration> step_lengths(const RuleContext& rules) {
  std::vector<Duration> lengths;
  lengths.reserve(rules.steps.size());
  for (const Step* const step : rules.steps) lengths.push_back(step->window.length());
  return lengths;
}

void add_outermost(const RuleContext& rules, const std::vector<Nesting::Thread>& threads,
                   const NameSet& names, std::vector<SliceId>& found) {
  const Trace& trace = rules.trace();
  if (!names.any()) return;
  for (const Nesting::Thread& thread : threads) {
    Time covered = Time::min();
    for (const SliceId slice : thread.slices) {
      const Time start = trace.slices.start[slice.row()];
      if (start < covered || !names.contains(trace.slices.name[slice.row()])) continue;
      covered = trace.slices.end(slice);
      if (rules.counts(start)) found.push_back(slice);
    }
  }
}

}  // namespace fathom

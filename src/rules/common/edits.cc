// Scales slices by what a change leaves of them.
#include "rules/common/edits.h"

#include <algorithm>
#include <cstdint>

#include "analysis/structure/from_outside.h"
#include "rules/common/main_thread.h"

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

}  // namespace

std::span<const SliceId> tree(const RuleContext& rules, SliceId slice) {
  const Trace& trace = rules.trace();
  const TrackId track = trace.slices.track[slice.row()];
  const Nesting::Thread* const thread = thread_on(rules.context.nesting().work, track);
  if (thread == nullptr) return {};
  const auto before = [&](SliceId a, SliceId b) { return nests_before(trace, a, b); };
  const auto first = std::ranges::lower_bound(thread->slices, slice, before);
  if (first == thread->slices.end() || *first != slice) return {};
  const Time end = trace.slices.end(slice);
  // What begins inside and ends later is no part of it (Nesting).
  const auto last = std::find_if(std::next(first), thread->slices.end(), [&](SliceId at) {
    return trace.slices.start[at.row()] >= end || trace.slices.end(at) > end;
  });
  return {first, last};
}

void scale_tree(const RuleContext& rules, SliceId slice, float factor, Edits& edits) {
  for (const SliceId inside : tree(rules, slice)) edits.scale.emplace_back(inside, factor);
}

std::vector<SliceId> outermost_of(const RuleContext& rules, std::span<const SliceId> slices) {
  const Column<SliceId>& parent = rules.context.nesting().parent;
  FromOutside notes;
  notes.resize(rules.trace().slices.size());
  std::vector<bool> is_one(rules.trace().slices.size());
  for (const SliceId slice : slices) is_one[slice.row()] = true;
  const auto is = [&is_one](SliceId at) { return is_one[at.row()]; };
  std::vector<bool> done(rules.trace().slices.size());
  std::vector<SliceId> found;
  for (const SliceId slice : slices) {
    if (done[slice.row()] || innermost_around(notes, parent, parent[slice.row()], is).valid())
      continue;
    done[slice.row()] = true;
    found.push_back(slice);
  }
  return found;
}

void scale_trees(const RuleContext& rules, const std::vector<SliceId>& roots, float factor,
                 Edits& edits) {
  for (const SliceId root : outermost_of(rules, roots)) scale_tree(rules, root, factor, edits);
}

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

}  // namespace fathom

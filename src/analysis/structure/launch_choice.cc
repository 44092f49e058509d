// Chooses by the kind of the call, then by its start, with calls within calls left out.
#include "analysis/structure/launch_choice.h"

#include <algorithm>
#include <tuple>

namespace fathom {

/// 2 when the call starts such activities, 1 when it starts something, else 0.
int LaunchChoice::fitness(SliceId call, SliceKind activity) const {
  const CallKind kind = links_.call_kind(trace_, call);
  if (!starts_activity(kind)) return 0;
  if (kind == CallKind::graph_launch) return 2;
  const bool copies = kind == CallKind::copy || kind == CallKind::copy_blocking;
  const bool fills = kind == CallKind::fill || kind == CallKind::fill_blocking;
  switch (activity) {
    case SliceKind::memcpy:
      return copies ? 2 : 1;
    case SliceKind::memset:
      return fills ? 2 : 1;
    default:
      return kind == CallKind::launch ? 2 : 1;
  }
}

void LaunchChoice::prepare(std::span<const SliceId> calls, SliceKind activity) {
  candidates_.clear();
  int best = 0;
  for (const SliceId call : calls) {
    const int fits = fitness(call, activity);
    if (fits < best) continue;
    if (fits > best) candidates_.clear();
    best = fits;
    candidates_.push_back({call, trace_.slices.start[call.row()], call});
  }
  if (candidates_.size() > 1) find_outermost();
}

void LaunchChoice::find_outermost() {
  const Slices& slices = trace_.slices;
  // Around a call stands what began on its thread before it, or with it and is longer.
  const auto outer_first = [&slices](const Candidate& candidate) {
    const std::size_t row = candidate.call.row();
    return std::tuple(slices.track[row], candidate.start, -slices.duration[row], row);
  };
  std::ranges::sort(candidates_, {}, outer_first);
  SliceId outermost;
  for (Candidate& candidate : candidates_) {
    const bool inside = outermost.valid() &&
                        slices.track[outermost.row()] == slices.track[candidate.call.row()] &&
                        slices.end(candidate.call) <= slices.end(outermost);
    if (!inside) outermost = candidate.call;
    candidate.outermost = outermost;
  }
  std::ranges::sort(candidates_, {}, [](const Candidate& candidate) {
    return std::pair(candidate.start, candidate.call);
  });
}

SliceId LaunchChoice::for_start(Time at) const {
  if (candidates_.size() == 1) return candidates_.front().call;
  const auto after = std::ranges::upper_bound(candidates_, at, {}, &Candidate::start);
  const Time start = after == candidates_.begin() ? after->start : std::prev(after)->start;
  return std::ranges::lower_bound(candidates_, start, {}, &Candidate::start)->outermost;
}

}  // namespace fathom

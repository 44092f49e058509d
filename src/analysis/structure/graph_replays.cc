// Numbers the replays of each CUDA graph.
#include "analysis/structure/graph_replays.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace fathom {
namespace {

struct GraphLaunch {
  SliceId call{};
  std::int64_t lowest_node = INT64_MAX;
  std::uint64_t contents = 0;  ///< Sum of the hashes of what it ran: the same in any order.
  std::uint32_t replay = 0;
};

std::int64_t node_of(const Trace& trace, SliceId activity) {
  const std::uint32_t detail = trace.slices.detail[activity.row()];
  if (trace.kind(activity) != SliceKind::kernel || detail == SliceId::kNone) return kAbsent;
  return trace.kernels.graph_node[detail];
}

std::uint64_t mix(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15U;
  return value ^ value >> 29;
}

bool is_graph_launch(const Trace& trace, const Links& links, SliceId call) {
  return call.valid() && links.call_kind(trace, call) == CallKind::graph_launch;
}

}  // namespace

void number_graph_replays(const Trace& trace, std::span<const SliceId> activities, Links& links) {
  const auto launch_of = links.launch.by_rank();
  std::vector<GraphLaunch> launches;
  for (const SliceId call : launch_of) {
    const bool known = !launches.empty() && launches.back().call == call;
    if (!known && is_graph_launch(trace, links, call)) launches.push_back({.call = call});
  }
  if (launches.empty()) return;
  std::ranges::sort(launches, {}, &GraphLaunch::call);
  const auto same = [](const GraphLaunch& a, const GraphLaunch& b) { return a.call == b.call; };
  launches.erase(std::unique(launches.begin(), launches.end(), same), launches.end());
  const auto find = [&](SliceId call) {
    return std::ranges::lower_bound(launches, call, {}, &GraphLaunch::call);
  };

  for (std::size_t rank = 0; rank < activities.size(); ++rank) {
    if (!is_graph_launch(trace, links, launch_of[rank])) continue;
    GraphLaunch& launch = *find(launch_of[rank]);
    const std::int64_t node = node_of(trace, activities[rank]);
    if (node != kAbsent) launch.lowest_node = std::min(launch.lowest_node, node);
    launch.contents += mix(trace.slices.name[activities[rank].row()].value + 1ULL);
  }

  std::vector<GraphLaunch*> by_time;
  by_time.reserve(launches.size());
  for (GraphLaunch& launch : launches) by_time.push_back(&launch);
  std::ranges::sort(by_time, {}, [&](const GraphLaunch* launch) {
    return std::pair(trace.slices.start[launch->call.row()], launch->call);
  });
  std::map<std::pair<TrackId, std::uint64_t>, std::uint32_t> made;
  for (GraphLaunch* launch : by_time) {
    const bool numbered = launch->lowest_node != INT64_MAX;
    const std::uint64_t graph =
        numbered ? static_cast<std::uint64_t>(launch->lowest_node) : launch->contents;
    launch->replay = ++made[{trace.slices.track[launch->call.row()], graph}];
  }
  for (std::size_t rank = 0; rank < activities.size(); ++rank) {
    if (is_graph_launch(trace, links, launch_of[rank])) {
      links.replay.by_rank()[rank] = find(launch_of[rank])->replay;
    }
  }
}

}  // namespace fathom

// Makes arrows from launches to device work by correlation id.
#include "export/launch_flows.h"

#include <unordered_map>

#include "store/recorded_id.h"

namespace fathom {
namespace {

bool has_device_arrows(const Trace& trace) {
  for (std::size_t row = 0; row < trace.flows.size(); ++row) {
    if (trace.tracks[trace.flows.track[row].row()].kind == TrackKind::device_stream) return true;
  }
  return false;
}

}  // namespace

std::vector<LaunchFlow> launch_flows(const Trace& trace) {
  std::vector<LaunchFlow> flows;
  if (has_device_arrows(trace)) return flows;
  std::unordered_map<std::int64_t, SliceId> calls;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId id(row);
    const std::int64_t correlation = trace.slices.correlation[row];
    if (!is_runtime_call(trace.kind(id)) || !is_recorded_id(correlation)) continue;
    const auto [at, added] = calls.try_emplace(correlation, id);
    if (!added && trace.slices.start[row] < trace.slices.start[at->second.row()]) at->second = id;
  }
  for (std::size_t row = 0; row < trace.slices.size() && !calls.empty(); ++row) {
    const SliceId id(row);
    if (!is_device_activity(trace.kind(id))) continue;
    const auto launch = calls.find(trace.slices.correlation[row]);
    if (launch != calls.end()) flows.push_back({launch->second, id});
  }
  return flows;
}

}  // namespace fathom

// Finds the threads of lanes by their ids.
#include "analysis/structure/answering.h"

#include <cstdint>
#include <map>
#include <utility>

namespace fathom {

std::vector<TrackId> answering_threads(const Trace& trace, const Steps& steps) {
  std::map<std::pair<StringId, std::int64_t>, TrackId> threads;
  std::vector<TrackId> answering;
  answering.reserve(trace.tracks.size());
  for (std::uint32_t row = 0; row < trace.tracks.size(); ++row) {
    const Track& track = trace.tracks[row];
    const bool thread = track.kind == TrackKind::host_thread && track.tid >= 0;
    if (thread && track.tid < kLaneOfRequests)
      threads.try_emplace({track.process, track.tid}, TrackId(row));
    answering.emplace_back(row);
  }
  if (!steps.requests) return answering;
  for (TrackId& id : answering) {
    const Track& track = trace.tracks[id.row()];
    if (track.kind != TrackKind::host_thread || track.tid < kLaneOfRequests) continue;
    const auto found = threads.find({track.process, track.tid % kLaneOfRequests});
    if (found != threads.end()) id = found->second;
  }
  return answering;
}

}  // namespace fathom

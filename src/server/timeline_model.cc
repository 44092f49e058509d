// Numbers the tracks.
#include "server/timeline_model.h"

#include <numeric>
#include <set>
#include <string>

#include "engine/query/typed.h"

namespace fathom::server {

TimelineModel::TimelineModel(const Trace& trace)
    : lanes(trace), classes(trace), names(trace), counters(counter_series(trace)) {
  std::set<std::int32_t> found;
  for (const LaneTrack& track : lanes.tracks()) {
    if (track.part == TrackPart::activities) found.insert(trace.tracks[track.track.row()].device);
  }
  devices.assign(found.begin(), found.end());
}

Result<std::vector<std::size_t>> TimelineModel::lane_tracks(std::string_view ids) const {
  std::vector<std::size_t> places;
  if (ids.empty()) {
    places.resize(lanes.tracks().size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    return places;
  }
  for (const std::string& id : split_commas(ids)) {
    const Result<std::int64_t> number = parse_whole(id, 1);
    if (!number) return Error(number.error()).in("tracks");
    if (static_cast<std::uint64_t>(*number) > lanes.tracks().size())
      return Error{ErrorCode::not_found, "track " + id + " has no slices"};
    places.push_back(static_cast<std::size_t>(*number) - 1);
  }
  return places;
}

}  // namespace fathom::server

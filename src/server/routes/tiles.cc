// Tiles of the timeline as bytes that a browser uses as arrays, unparsed; docs/view.md has the
// layout.
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "analysis/timeline/tile.h"
#include "base/stop.h"
#include "server/route.h"

namespace fathom::server {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tiles are written as they lie in memory");

/// An answer stays within some megabytes, whatever the recording.
constexpr std::size_t kMostTracks = 64;
constexpr std::size_t kMostLanes = 2048;

/// A screen that shows the whole recording has at most so many beside each other.
constexpr std::int64_t kTilesOfScreen = 8;

/// Bytes at an offset that is a multiple of eight.
class TileBytes {
 public:
  template <typename T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename T>
  void array(const std::vector<T>& values) {
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    bytes_.append((8 - bytes_.size() % 8) % 8, '\0');
  }
  void text(std::string_view four) { bytes_ += four; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// The boxes of a track as columns.
struct Boxes {
  std::vector<std::uint64_t> covered;
  std::vector<std::uint32_t> x0, x1, slice, name;
  std::vector<std::uint16_t> lane;
  std::vector<std::uint8_t> kind, coverage;
};

Boxes boxes_of(const Trace& trace, const TimelineModel& model, const LaneTrack& track,
               const TileSpan& span) {
  Boxes boxes;
  for (std::size_t lane = 0; lane < track.lanes.size(); ++lane) {
    stop_point();
    boxes.covered.push_back(
        static_cast<std::uint64_t>(to_ns(track.lanes[lane].covered(span.interval()))));
    for (const TileBox& box : tile_boxes(trace, track.lanes[lane], span)) {
      boxes.x0.push_back(box.x0);
      boxes.x1.push_back(box.x1);
      boxes.slice.push_back(box.slice.value);
      boxes.name.push_back(model.names.number(box.name));
      boxes.lane.push_back(static_cast<std::uint16_t>(lane));
      boxes.kind.push_back(model.classes.of(box.longest));
      boxes.coverage.push_back(box.coverage);
    }
  }
  return boxes;
}

void write_block(TileBytes& bytes, std::size_t id, const Boxes& boxes) {
  bytes.put(static_cast<std::uint32_t>(id));
  bytes.put(static_cast<std::uint32_t>(boxes.covered.size()));
  bytes.put(static_cast<std::uint32_t>(boxes.x0.size()));
  bytes.put(std::uint32_t{0});
  bytes.array(boxes.covered);
  for (const auto* const column : {&boxes.x0, &boxes.x1, &boxes.slice, &boxes.name})
    bytes.array(*column);
  bytes.array(boxes.lane);
  bytes.array(boxes.kind);
  bytes.array(boxes.coverage);
}

Result<TileSpan> span_of(const Call& call) {
  const Result<std::int64_t> level = call.number("level", -1);
  if (!level) return level.error();
  const Result<std::int64_t> tile = call.number("tile", -1);
  if (!tile) return tile.error();
  const TileSpan span{.level = static_cast<int>(std::min<std::int64_t>(*level, kTileLevels)),
                      .index = *tile};
  // The last tile ends before the end of time.
  if (*level < 0 || *level > kTileLevels || *tile < 0 ||
      *tile >= INT64_MAX / kTileBins / span.bin_ns() - 1) {
    return Error{ErrorCode::invalid_argument, "level and tile name no stretch of time"};
  }
  return span;
}

Result<Response> answer_tiles(const Call& call) {
  if (call.rest != call.input->digest())
    return Error{ErrorCode::not_found, "this is another recording"};
  const Result<TileSpan> span = span_of(call);
  if (!span) return span.error();
  const TimelineModel& model = call.input->timeline();
  const Result<std::vector<std::size_t>> tracks = model.lane_tracks(call.text("tracks"));
  if (!tracks) return tracks.error();
  std::size_t lanes = 0;
  for (const std::size_t track : *tracks) lanes += model.lanes.tracks()[track].lanes.size();
  if ((*tracks).size() > kMostTracks || lanes > kMostLanes) {
    return Error{ErrorCode::invalid_argument, "at most " + std::to_string(kMostTracks) +
                                                  " tracks with " + std::to_string(kMostLanes) +
                                                  " lanes at a time"};
  }
  TileBytes bytes;
  bytes.text("FTT1");
  bytes.put(static_cast<std::uint32_t>((*tracks).size()));
  for (const std::size_t track : *tracks) {
    write_block(bytes, model.id_of_lanes(track),
                boxes_of(call.input->session().trace(), model, model.lanes.tracks()[track], *span));
  }
  return tiles_response(bytes.take());
}

/// So coarse that a few tiles cover the recording.
bool of_first_screen(const Call& call) {
  const Result<TileSpan> span = span_of(call);
  if (!span || call.rest != call.input->digest()) return false;
  return to_ns(call.input->range().end) / span->bin_ns() / kTileBins < kTilesOfScreen;
}

}  // namespace

Route tiles() {
  return {.path = "api/tiles/", .answer = answer_tiles, .of_first_screen = of_first_screen};
}

}  // namespace fathom::server

// Laws of the timeline: every slice is reachable, and each tile's sums are exact, on every
// recording.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/timeline/lane_tracks.h"
#include "analysis/timeline/tile.h"
#include "engine/session.h"
#include "tests/support/recordings.h"

namespace fathom {
namespace {

class TimelineOf : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Session>> opened = Session::open(GetParam(), ReadOptions());
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    session_ = *std::move(opened);
  }
  [[nodiscard]] const Trace& trace() const { return session_->trace(); }

  std::unique_ptr<Session> session_;
};

TEST_P(TimelineOf, ReachesEverySliceOnce) {
  const LaneTracks lanes(trace());
  std::vector<int> seen(trace().slices.size());
  for (const LaneTrack& track : lanes.tracks()) {
    std::uint64_t slices = 0;
    Duration covered{};
    for (const Lane& lane : track.lanes) {
      for (std::size_t i = 0; i < lane.size(); ++i) {
        ++seen[lane.slices()[i].row()];
        ++slices;
        covered += lane.duration(i);
        ASSERT_EQ(trace().slices.track[lane.slices()[i].row()], track.track);
        if (i == 0) continue;
        ASSERT_GE(lane.begin(i), lane.end(i - 1)) << "slices of a lane overlap";
        ASSERT_GT(lane.begin(i), lane.begin(i - 1));
      }
    }
    EXPECT_EQ(track.slices, slices);
    EXPECT_EQ(track.covered, covered);
    EXPECT_LE(track.lanes.size(), kLanesOfTrack);
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](int count) { return count == 1; }));
  const std::size_t step = std::max<std::size_t>(1, trace().slices.size() / 1000);
  for (std::size_t row = 0; row < trace().slices.size(); row += step) {
    const LaneTracks::Place place = lanes.find(SliceId(row));
    ASSERT_LT(place.track, lanes.tracks().size());
    EXPECT_EQ(lanes.tracks()[place.track].lanes[place.lane].slices()[place.place], SliceId(row));
  }
}

/// Slowly, slice by slice.
Duration clipped(const Lane& lane, Interval stretch) {
  Duration sum{};
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const Time begin = std::max(lane.begin(i), stretch.begin);
    const Time end = std::min(lane.end(i), stretch.end);
    if (begin < end) sum += end - begin;
  }
  return sum;
}

/// What each slice of a lane contributes to the bins of a tile, slowly.
void expect_boxes(const Trace& trace, const Lane& lane, const TileSpan& span) {
  const Interval tile = span.interval();
  std::vector<std::int64_t> covered(kTileBins);
  std::vector<std::uint64_t> slices(kTileBins);
  std::vector<SliceId> alone;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const bool touches =
        lane.begin(i) < tile.end && (lane.end(i) > tile.begin || lane.begin(i) >= tile.begin);
    if (!touches) continue;
    if (to_ns(lane.duration(i)) >= 2 * span.bin_ns()) {
      alone.push_back(lane.slices()[i]);
      continue;
    }
    const Time begin = std::max(lane.begin(i), tile.begin);
    const Time end = std::min(lane.end(i), tile.end);
    for (std::int64_t bin = to_ns(begin - tile.begin) / span.bin_ns(); bin < kTileBins; ++bin) {
      const Time from = tile.begin + Duration(bin * span.bin_ns());
      const Time to = from + Duration(span.bin_ns());
      if (end < to && end <= from && begin < from) break;
      covered[static_cast<std::size_t>(bin)] +=
          std::max<std::int64_t>(0, to_ns(std::min(end, to) - std::max(begin, from)));
      ++slices[static_cast<std::size_t>(bin)];
      if (end <= to) break;
    }
  }
  std::vector<SliceId> shown_alone;
  std::uint64_t bins = 0;
  const std::uint32_t bin_places = 1U << std::min(span.level, kPlaceBits);
  for (const TileBox& box : tile_boxes(trace, lane, span)) {
    ASSERT_LE(box.x0, box.x1);
    if (box.slice.valid() && to_ns(trace.slices.duration[box.slice.row()]) >= 2 * span.bin_ns()) {
      shown_alone.push_back(box.slice);
      EXPECT_EQ(box.coverage, 255);
      continue;
    }
    ++bins;
    const std::size_t bin = box.x0 / bin_places;
    ASSERT_LT(bin, covered.size());
    EXPECT_EQ(box.slice.valid(), slices[bin] == 1);
    const double share =
        static_cast<double>(covered[bin]) / static_cast<double>(span.bin_ns()) * 255;
    EXPECT_NEAR(box.coverage, std::max(1.0, share), 0.51);
  }
  EXPECT_EQ(shown_alone, alone);
  const auto filled = std::ranges::count_if(slices, [](std::uint64_t n) { return n > 0; });
  EXPECT_EQ(bins, static_cast<std::uint64_t>(filled));
}

TEST_P(TimelineOf, SumsAreExactInThousandRandomTiles) {
  const LaneTracks lanes(trace());
  if (lanes.tracks().empty()) GTEST_SKIP() << "no slices";
  std::int64_t end = 1;
  for (const LaneTrack& track : lanes.tracks()) {
    for (const Lane& lane : track.lanes) end = std::max(end, to_ns(lane.end(lane.size() - 1)));
  }
  std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): the same tiles each time
  for (int i = 0; i < 1000; ++i) {
    const LaneTrack& track = lanes.tracks()[random() % lanes.tracks().size()];
    const Lane& lane = track.lanes[random() % track.lanes.size()];
    TileSpan span{.level = static_cast<int>(random() % 34)};
    span.index = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end)) /
                 (kTileBins * span.bin_ns());
    ASSERT_EQ(lane.covered(span.interval()), clipped(lane, span.interval()));
    if (i % 10 == 0) expect_boxes(trace(), lane, span);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, TimelineOf, testing::ValuesIn(recordings()),
                         name_of_recording);

}  // namespace
}  // namespace fathom

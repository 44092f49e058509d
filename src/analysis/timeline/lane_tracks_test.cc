#include "analysis/timeline/lane_tracks.h"

#include <random>

#include <gtest/gtest.h>

#include "analysis/timeline/free_lanes.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// Lane of each slice, by row.
std::vector<std::size_t> lanes_of(const Trace& trace) {
  const LaneTracks lanes(trace);
  std::vector<std::size_t> found;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const LaneTracks::Place place = lanes.find(SliceId(row));
    found.push_back(lanes.tracks()[place.track].first_lane + place.lane);
  }
  return found;
}

TEST(LaneTracks, PutsCallsBelowTheirCallers) {
  TraceBuilder builder;
  builder.op("outer", 0, 100);
  builder.op("inner", 10, 50);
  builder.op("innermost", 10, 20);
  builder.op("beside", 70, 10);
  builder.op("next", 100, 5);
  EXPECT_EQ(lanes_of(builder.build()), (std::vector<std::size_t>{0, 1, 2, 1, 0}));
}

TEST(LaneTracks, KeepKernelsThatOverlapEachInALane) {
  TraceBuilder builder;
  builder.kernel("first", 0, 100, 1);
  builder.kernel("second", 50, 100, 2);
  builder.kernel("third", 60, 100, 3);
  builder.kernel("fourth", 120, 100, 4);
  EXPECT_EQ(lanes_of(builder.build()), (std::vector<std::size_t>{0, 1, 2, 0}));
}

TEST(LaneTracks, GiveSlicesWithoutADurationAPlaceEach) {
  TraceBuilder builder;
  builder.op("a", 5, 0);
  builder.op("b", 5, 0);
  builder.op("c", 5, 3);
  const Trace trace = builder.build();
  const LaneTracks lanes(trace);
  ASSERT_EQ(lanes.tracks().size(), 1U);
  EXPECT_EQ(lanes.tracks().front().slices, 3U);
  EXPECT_EQ(lanes.tracks().front().lanes.size(), 3U);
}

TEST(LaneTracks, ContinueInAnotherTrackBelowTheLastLane) {
  TraceBuilder builder;
  for (int i = 0; i < 600; ++i) builder.op("deep", i, 2000 - 2 * i);
  const Trace trace = builder.build();
  const LaneTracks lanes(trace);
  ASSERT_EQ(lanes.tracks().size(), 3U);
  EXPECT_EQ(lanes.tracks()[0].lanes.size(), kLanesOfTrack);
  EXPECT_EQ(lanes.tracks()[2].first_lane, 2 * kLanesOfTrack);
  EXPECT_EQ(lanes.tracks()[0].slices + lanes.tracks()[1].slices + lanes.tracks()[2].slices, 600U);
  EXPECT_EQ(lanes.find(SliceId(std::size_t{599})).track, 2U);
}

TEST(LaneTracks, ShowFramesAndProjectedAnnotationsApart) {
  TraceBuilder builder;
  builder.frame("train.py(1): main", 0, 100);
  builder.op("aten::mm", 10, 20);
  builder.kernel("gemm", 20, 30, 1);
  const Trace trace = builder.build();
  const LaneTracks lanes(trace);
  ASSERT_EQ(lanes.tracks().size(), 3U);
  EXPECT_EQ(lanes.tracks()[0].part, TrackPart::work);
  EXPECT_EQ(lanes.tracks()[1].part, TrackPart::frames);
  EXPECT_EQ(lanes.tracks()[2].part, TrackPart::activities);
}

TEST(FreeLanes, FindTheFirstFreeLaneAsASlowSearchDoes) {
  std::mt19937 random(3);  // NOLINT(cert-msc51-cpp): the same lanes each time
  FreeLanes lanes;
  std::vector<Time> free;
  Time now{};
  for (int i = 0; i < 20'000; ++i) {
    now += Duration(random() % 3);
    const std::size_t from = random() % 40;
    const Time end = now + Duration(1 + random() % 200);
    std::size_t expected = from;
    while (expected < free.size() && free[expected] > now) ++expected;
    if (expected >= free.size()) free.resize(expected + 1, Time::min());
    free[expected] = end;
    ASSERT_EQ(lanes.take(from, now, end), expected);
  }
}

}  // namespace
}  // namespace fathom

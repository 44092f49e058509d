// Samples as CUPTI decodes them, made up.
#include "capture/cuda/pm_samples.h"

#include <limits>

#include <gtest/gtest.h>

namespace fathom::cuda {
namespace {

PmPlan two_tracks() {
  PmPlan plan;
  plan.tracks = {{"gpu.sm_active", "percent", "a"}, {"gpu.dram_read", "bytes/s", "b"}};
  plan.interval_ns = 1000;
  return plan;
}

/// So many samples of a microsecond from there on, decoded at once.
PmBatch batch(std::uint64_t begin, std::size_t samples, bool overflowed = false) {
  PmBatch made;
  for (std::size_t i = 0; i < samples; ++i) {
    made.times.push_back({begin + i * 1000, begin + (i + 1) * 1000});
    made.values.insert(made.values.end(), {10, 2e9});
  }
  made.overflowed = overflowed;
  made.started = 0;
  made.decoded = static_cast<std::int64_t>(begin + samples * 1000);
  return made;
}

std::int64_t same(std::int64_t time) { return time; }

TEST(PmSeries, EachSampleIsAPointOnEachTrackAtItsBegin) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  series.convert(batch(5000, 3), same, points);
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[2].time, 6000);
  EXPECT_EQ(points[2].track, 0U);
  EXPECT_EQ(points[3].value, 2e9);
  EXPECT_EQ(series.counts().samples, 3U);
  EXPECT_EQ(series.clock().shift(), 0);
}

TEST(PmSeries, TimesGoThroughTheClockOfTheHost) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  PmBatch made = batch(1'000'005'000, 1);
  made.decoded = 7000;
  series.convert(
      made, [](std::int64_t time) { return time - 1'000'000'000; }, points);
  EXPECT_EQ(points.at(0).time, 5000);
}

TEST(PmSeries, PercentEndAtAllAndWhatIsNotDefinedHasNoPoint) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  PmBatch made = batch(5000, 2);
  made.values = {100.3, -1, std::numeric_limits<double>::quiet_NaN(), 3};
  series.convert(made, same, points);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].value, 100);
  EXPECT_EQ(points[1].value, 0);
  EXPECT_EQ(points[2].track, 1U);
}

TEST(PmSeries, AGapAfterAnOverflowTellsHowManySamplesAreMissing) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  series.convert(batch(5000, 2, true), same, points);
  EXPECT_EQ(series.counts().lost, 1U);
  series.convert(batch(17'100, 2), same, points);
  EXPECT_EQ(series.counts().lost, 10U);
  EXPECT_EQ(series.counts().overflows, 1U);
}

TEST(PmSeries, AGapWithoutAnOverflowIsNoLoss) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  series.convert(batch(5000, 2), same, points);
  series.convert(batch(500'000, 2), same, points);
  EXPECT_EQ(series.counts().lost, 0U);
}

TEST(PmSeries, SamplesWhoseTimesMakeNoSenseAreCounted) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  PmBatch made = batch(5000, 4);
  made.times[1] = {0, 1000};
  made.times[2] = {9000, 8000};
  series.convert(made, same, points);
  EXPECT_EQ(points.size(), 4U);
  EXPECT_EQ(series.counts().without_time, 2U);
  series.convert(batch(5000, 1), same, points);
  EXPECT_EQ(points.size(), 4U);
  EXPECT_EQ(series.counts().without_time, 3U);
}

TEST(PmSeries, ValuesThatDoNotFitTheTracksAreLeft) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  PmBatch made = batch(5000, 2);
  made.values.pop_back();
  series.convert(made, same, points);
  EXPECT_TRUE(points.empty());
}

PmBatch between(std::int64_t started, std::int64_t decoded) {
  PmBatch made;
  made.started = started;
  made.decoded = decoded;
  return made;
}

TEST(PmClock, TimesThatFitBetweenStartAndLookStayAsTheyAre) {
  PmClock clock;
  clock.fit(1'000'000, 9'000'000, between(500'000, 10'000'000));
  EXPECT_EQ(clock.shift(), 0);
  EXPECT_EQ(clock.error(), 0);
}

TEST(PmClock, TimesOfAnotherClockArePutIntoTheMiddleOfWhatIsPossible) {
  PmClock clock;
  // Between -99 and -97 ms is possible.
  clock.fit(100'000'000, 107'000'000, between(1'000'000, 10'000'000));
  EXPECT_EQ(clock.shift(), -98'000'000);
  EXPECT_EQ(clock.error(), 1'000'000);
  EXPECT_EQ(clock.host(100'000'000), 2'000'000);
}

TEST(PmClock, NoSampleComesAfterItWasLookedAt) {
  PmClock clock;
  clock.fit(1'000'000, 9'000'000, between(500'000, 10'000'000));
  clock.fit(9'000'000, 19'000'000, between(500'000, 18'000'000));
  EXPECT_EQ(clock.host(19'000'000), 18'000'000);
}

}  // namespace
}  // namespace fathom::cuda

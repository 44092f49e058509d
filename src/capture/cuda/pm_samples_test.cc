// Samples as CUPTI decodes them, made up.
#include "capture/cuda/pm_samples.h"

#include <cmath>
#include <limits>
#include <random>

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

/// CUPTI's clock is the host's.
const ClockFit kSame;

TEST(PmSeries, EachSampleIsAPointOnEachTrackAtItsBegin) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  series.convert(batch(5000, 3), kSame, points);
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
  ClockFit clock;
  clock.add({1'000'000'000, 0, 0});
  series.convert(made, clock, points);
  EXPECT_EQ(points.at(0).time, 5000);
}

TEST(PmSeries, PercentEndAtAllAndWhatIsNotDefinedHasNoPoint) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  PmBatch made = batch(5000, 2);
  made.values = {100.3, -1, std::numeric_limits<double>::quiet_NaN(), 3};
  series.convert(made, kSame, points);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].value, 100);
  EXPECT_EQ(points[1].value, 0);
  EXPECT_EQ(points[2].track, 1U);
}

TEST(PmSeries, AGapAfterAnOverflowTellsHowManySamplesAreMissing) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  series.convert(batch(5000, 2, true), kSame, points);
  EXPECT_EQ(series.counts().lost, 1U);
  series.convert(batch(17'100, 2), kSame, points);
  EXPECT_EQ(series.counts().lost, 10U);
  EXPECT_EQ(series.counts().overflows, 1U);
}

TEST(PmSeries, AGapWithoutAnOverflowIsNoLoss) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  series.convert(batch(5000, 2), kSame, points);
  series.convert(batch(500'000, 2), kSame, points);
  EXPECT_EQ(series.counts().lost, 0U);
}

TEST(PmSeries, SamplesWhoseTimesMakeNoSenseAreCounted) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  PmBatch made = batch(5000, 4);
  made.times[1] = {0, 1000};
  made.times[2] = {9000, 8000};
  series.convert(made, kSame, points);
  EXPECT_EQ(points.size(), 4U);
  EXPECT_EQ(series.counts().without_time, 2U);
  series.convert(batch(5000, 1), kSame, points);
  EXPECT_EQ(points.size(), 4U);
  EXPECT_EQ(series.counts().without_time, 3U);
}

TEST(PmSeries, ValuesThatDoNotFitTheTracksAreLeft) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  PmBatch made = batch(5000, 2);
  made.values.pop_back();
  series.convert(made, kSame, points);
  EXPECT_TRUE(points.empty());
}

/// Samples of a clock that counts so fast, looked at ten times a second for so long; set by so much
/// after each of these looks.
PmCounts counts_of(double rate, int looks, std::uint64_t set, std::initializer_list<int> when) {
  PmSeries series(two_tracks());
  std::uint64_t offset = 7'000'000'000;
  for (int look = 1; look <= looks; ++look) {
    const std::int64_t host = look * std::int64_t{100'000'000};
    PmBatch made;
    const auto end =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(host) * rate)) + offset;
    made.times = {{end - 2000, end - 1000}, {end - 1000, end}};
    made.values = {1, 1, 1, 1};
    made.decoded = host;
    std::vector<PmPoint> points;
    series.convert(made, kSame, points);
    EXPECT_EQ(points.size(), series.counts().of_no_clock == 0 ? 4U : 0U);
    for (const int set_at : when) offset += set_at == look ? set : 0;
  }
  return series.counts();
}

TEST(PmSeries, TimesOfAClockThatCountsSomethingElseAreUnknown) {
  EXPECT_GT(counts_of(3.1, 100, 0, {}).of_no_clock, 100U);
  EXPECT_GT(counts_of(0.024, 100, 0, {}).of_no_clock, 100U);
  EXPECT_GT(counts_of(0.8, 300, 0, {}).of_no_clock, 100U);
  EXPECT_EQ(counts_of(1.0004, 3000, 0, {}).of_no_clock, 0U);
}

TEST(PmSeries, TimesOfAClockThatIsSetNowAndThenAreKnown) {
  constexpr std::uint64_t kFar = 5'000'000'000;
  EXPECT_EQ(counts_of(1, 100, kFar, {20, 60}).of_no_clock, 0U);
  EXPECT_EQ(counts_of(1, 3000, kFar, {20, 700, 1400, 2100}).of_no_clock, 0U);
}

TEST(PmSeries, WhatWasHeldBackByAnOverflowIsNoOtherClock) {
  PmSeries series(two_tracks());
  std::vector<PmPoint> points;
  for (std::uint64_t at = 1; at < 40; ++at) {
    PmBatch late = batch(at * 10'000'000'000, 2, true);
    late.decoded += static_cast<std::int64_t>(at) * 900'000'000;
    series.convert(late, kSame, points);
  }
  EXPECT_EQ(series.counts().of_no_clock, 0U);
}

TEST(PmClock, TimesThatFitBetweenStartAndLookStayAsTheyAre) {
  PmClock clock;
  clock.fit(1'000'000, 9'000'000, 500'000, 10'000'000);
  EXPECT_EQ(clock.shift(), 0);
  EXPECT_EQ(clock.error(), 0);
}

/// What the rates of two clocks may do within some milliseconds.
constexpr double kSlightly = 20'000;

TEST(PmClock, TimesOfAnotherClockArePutIntoTheMiddleOfWhatIsPossible) {
  PmClock clock;
  // Between -99 and -97 ms is possible.
  clock.fit(100'000'000, 107'000'000, 1'000'000, 10'000'000);
  EXPECT_NEAR(static_cast<double>(clock.shift()), -98'000'000, kSlightly);
  EXPECT_NEAR(static_cast<double>(clock.error()), 1'000'000, kSlightly);
  EXPECT_EQ(clock.cupti(100'000'000), 100'000'000 + clock.shift());
}

TEST(PmClock, NoSampleComesAfterItWasLookedAt) {
  PmClock clock;
  clock.fit(1'000'000, 9'000'000, 500'000, 10'000'000);
  clock.fit(9'000'000, 19'000'000, 500'000, 18'000'000);
  EXPECT_EQ(clock.cupti(19'000'000), 18'000'000);
}

/// A host, a CUPTI and a GPU, each with a clock of its own; `now` is the true time and the host's.
struct Machine {
  std::mt19937_64 random;
  std::int64_t cupti_offset = 0;
  double cupti_rate = 1;
  std::int64_t gpu_offset = 0;
  double gpu_rate = 1;
  std::int64_t now = 3'000'000'000'000;

  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  }
  static std::int64_t of(std::int64_t offset, double rate, std::int64_t time) {
    return offset + time + std::llround(static_cast<double>(time) * (rate - 1));
  }
  /// Read in between, by what the readings take.
  ClockReading read() {
    const std::int64_t before = now;
    const std::int64_t read = before + between(50, 400);
    now = read + between(50, 400);
    return {of(cupti_offset, cupti_rate, read), before, now};
  }
};

/// The greatest error of any point of so many looks, less what is stated.
std::int64_t beyond_what_is_stated(Machine machine, int looks) {
  constexpr std::int64_t kInterval = 1'000'000;
  ClockFit fit;
  PmSeries series(two_tracks());
  fit.add(machine.read());
  const std::int64_t started = machine.now;
  std::int64_t next = started + machine.between(0, 30'000'000);
  std::int64_t worst = 0;
  for (int look = 0; look < looks; ++look) {
    machine.now += machine.between(50'000'000, 250'000'000);
    PmBatch batch;
    std::vector<std::int64_t> truth;
    // What ended long enough ago to have arrived.
    for (const std::int64_t arrived = machine.now - machine.between(0, 40'000'000);
         next + kInterval <= arrived; next += kInterval) {
      const auto gpu = [&machine](std::int64_t time) {
        return static_cast<std::uint64_t>(Machine::of(machine.gpu_offset, machine.gpu_rate, time));
      };
      truth.push_back(next);
      batch.times.push_back({gpu(next), gpu(next + kInterval)});
      batch.values.insert(batch.values.end(), {1, 1});
    }
    batch.started = started;
    batch.decoded = machine.now;
    fit.add(machine.read());
    std::vector<PmPoint> points;
    series.convert(batch, fit, points);
    EXPECT_EQ(points.size(), 2 * truth.size());
    for (std::size_t i = 0; i < points.size(); ++i)
      worst = std::max(worst, std::abs(points[i].time - truth[i / 2]));
  }
  EXPECT_EQ(series.counts().without_time, 0U);
  return worst - (fit.quality().error + series.clock().error());
}

TEST(PmClock, WhatIsStatedCoversTheErrorOfClocksOfOtherOffsetsAndRates) {
  constexpr std::int64_t kUnixTime = 1'790'000'000'000'000'000;
  constexpr double kMillion = 1e6;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Machine machine;
    machine.random.seed(seed);
    machine.cupti_offset = machine.between(0, 1) == 0 ? kUnixTime : machine.between(0, 1'000'000);
    machine.cupti_rate = 1 + static_cast<double>(machine.between(-200, 200)) / kMillion;
    // Since the GPU was switched on, or since 1970; or seconds beside CUPTI's clock.
    const std::int64_t offsets[] = {
        machine.between(-2'900'000'000'000, 0),
        kUnixTime + machine.between(-1'000'000'000, 1'000'000'000),
        machine.cupti_offset +
            (machine.between(0, 1) * 2 - 1) * machine.between(1'000'000'000, 9'000'000'000)};
    machine.gpu_offset = offsets[seed % std::size(offsets)];
    machine.gpu_rate =
        machine.cupti_rate + static_cast<double>(machine.between(-200, 200)) / kMillion;
    EXPECT_LE(beyond_what_is_stated(machine, 300), 0) << "seed " << seed;
  }
}

TEST(PmClock, SamplesOfCuptisOwnClockAreAsGoodAsItWhateverItsOffset) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Machine machine;
    machine.random.seed(seed);
    machine.cupti_offset = machine.between(-2'900'000'000'000, 1'790'000'000'000'000'000);
    machine.cupti_rate = 1 + static_cast<double>(machine.between(-200, 200)) / 1e6;
    machine.gpu_offset = machine.cupti_offset;
    machine.gpu_rate = machine.cupti_rate;
    EXPECT_LE(beyond_what_is_stated(machine, 100), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fathom::cuda

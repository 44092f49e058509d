#include "capture/cuda/clock_fit.h"

#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

namespace fathom::cuda {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// CUPTI's clock runs so much faster, and was there at the host's zero.
struct Clocks {
  double ppm = 0;
  std::int64_t offset = 0;
  [[nodiscard]] std::int64_t cupti(std::int64_t host) const {
    return host + offset + std::llround(static_cast<double>(host) * ppm * 1e-6);
  }
  [[nodiscard]] ClockReading read(std::int64_t host, std::int64_t half_width = 50) const {
    return {cupti(host), host - half_width, host + half_width};
  }
};

TEST(ClockFit, IsTheSameClockWhereThereIsNoReading) {
  EXPECT_EQ(ClockFit().host(17), 17);
  EXPECT_TRUE(ClockFit().empty());
}

TEST(ClockFit, OneReadingGivesTheOffset) {
  ClockFit fit;
  const Clocks clocks{0, 5'000'000'000'000};
  fit.add(clocks.read(1000));
  EXPECT_EQ(fit.host(clocks.cupti(4000)), 4000);
  EXPECT_EQ(fit.quality().error, 50);
}

TEST(ClockFit, FollowsAConstantDriftForHours) {
  ClockFit fit;
  const Clocks clocks{30, 1'700'000'000 * kSecond};
  for (std::int64_t at = 0; at < kSecond * 3 * 3600; at += kSecond / 4 * 10) {
    fit.add(clocks.read(at));
    if (at == 0) continue;
    EXPECT_NEAR(static_cast<double>(fit.host(clocks.cupti(at - kSecond))),
                static_cast<double>(at - kSecond), 100);
  }
  EXPECT_NEAR(fit.quality().drift_ppm, 30, 0.1);
  EXPECT_EQ(fit.quality().jumps, 0U);
  EXPECT_LE(fit.quality().error, 200);
}

TEST(ClockFit, ADriftThatChangesShowsInTheStatedErrorWhichHolds) {
  ClockFit fit;
  std::int64_t cupti = 0;
  std::int64_t worst = 0;
  std::int64_t before_cupti = 0;
  std::int64_t before_host = 0;
  for (std::int64_t i = 1; i <= 400; ++i) {
    const std::int64_t host = i * kSecond / 4;
    const double ppm = 40 * std::sin(static_cast<double>(i) / 20);
    cupti += kSecond / 4 + std::llround(250 * ppm);
    fit.add({cupti, host - 100, host + 100});
    const std::int64_t middle = before_cupti + (cupti - before_cupti) / 2;
    if (i > 2) worst = std::max(worst, std::abs(fit.host(middle) - (before_host + host) / 2));
    before_cupti = cupti;
    before_host = host;
  }
  EXPECT_LE(worst, fit.quality().error);
  EXPECT_LE(fit.quality().error, 2000);
}

TEST(ClockFit, AReadingThatWasInterruptedIsNotUsed) {
  ClockFit fit;
  const Clocks clocks{0, 1000};
  fit.add(clocks.read(0));
  fit.add(clocks.read(kSecond));
  fit.add({clocks.cupti(kSecond + 1000), kSecond, kSecond + 400'000});
  EXPECT_EQ(fit.quality().readings, 2U);
  EXPECT_EQ(fit.host(clocks.cupti(kSecond / 2)), kSecond / 2);
}

TEST(ClockFit, AWideReadingIsBetterThanNoneForLong) {
  ClockFit fit;
  const Clocks clocks{10, 0};
  fit.add(clocks.read(0));
  fit.add(clocks.read(3 * kSecond, 100'000));
  EXPECT_EQ(fit.quality().readings, 2U);
  EXPECT_GE(fit.quality().error, 100'000);
}

TEST(ClockFit, AfterAJumpTimesBeforeItKeepTheirLine) {
  ClockFit fit;
  const Clocks before{0, 1000};
  const Clocks after{0, 5 * kSecond};
  for (std::int64_t at = 0; at <= 4; ++at) fit.add(before.read(at * kSecond));
  for (std::int64_t at = 5; at <= 8; ++at) fit.add(after.read(at * kSecond));
  EXPECT_EQ(fit.quality().jumps, 1U);
  EXPECT_EQ(fit.host(after.cupti(7 * kSecond)), 7 * kSecond);
  EXPECT_EQ(fit.host(before.cupti(4 * kSecond + 10)), 4 * kSecond + 10);
}

TEST(ClockFit, AClockThatCountsSomethingElseIsUnknownAndWhatWasBeforeHolds) {
  for (const double rate : {3.1, 0.024, 1.01}) {
    ClockFit fit;
    const Clocks own{0, 1000};
    for (std::int64_t at = 0; at <= 4; ++at) fit.add(own.read(at * kSecond / 4));
    EXPECT_TRUE(fit.settled());
    for (std::int64_t at = 5; at <= 7; ++at) {
      EXPECT_FALSE(fit.unknown());
      const std::int64_t host = at * kSecond / 4;
      fit.add({std::llround(static_cast<double>(host) * rate) + 7 * kSecond, host - 50, host + 50});
      EXPECT_FALSE(fit.settled());
    }
    EXPECT_TRUE(fit.unknown()) << rate;
    EXPECT_EQ(fit.quality().jumps, 0U);
    EXPECT_EQ(fit.host(own.cupti(kSecond + 10)), kSecond + 10);
    // Also where it would fit again.
    const std::size_t readings = fit.quality().readings;
    fit.add(own.read(3 * kSecond));
    EXPECT_EQ(fit.quality().readings, readings);
  }
}

TEST(ClockFit, AClockThatIsSetTwiceIsKnown) {
  ClockFit fit;
  std::int64_t offset = 0;
  for (std::int64_t at = 0; at <= 12; ++at) {
    if (at == 4 || at == 8) offset += 9 * kSecond;
    fit.add(Clocks{0, offset}.read(at * kSecond / 4));
    EXPECT_EQ(fit.settled(), at != 4 && at != 8);
  }
  EXPECT_FALSE(fit.unknown());
  EXPECT_EQ(fit.quality().jumps, 2U);
}

TEST(ClockFit, ReadingsCloseTogetherDoNotBendShortTimes) {
  ClockFit fit;
  fit.add({1'000'000, 1'000'000 - 40, 1'000'000 + 40});
  fit.add({2'000'000, 2'000'000, 2'000'000 + 80});
  EXPECT_EQ(fit.host(1'505'000) - fit.host(1'500'000), 5000);
}

TEST(ClockFit, ABackwardReadingOfTheHostIsIgnored) {
  ClockFit fit;
  fit.add({100, 100, 102});
  fit.add({200, 202, 200});
  EXPECT_EQ(fit.quality().readings, 1U);
}

}  // namespace
}  // namespace fathom::cuda

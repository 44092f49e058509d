// Clocks that differ withhold a verdict, unless cycles agree.
#include "measure/clock_rule.h"

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

constexpr std::uint64_t kIdle = 0x1;
constexpr std::uint64_t kPowerCap = 0x4;
constexpr std::uint64_t kThermal = 0x20;

std::vector<ClockReading> at(std::size_t count, double mhz, std::uint64_t reasons = 0) {
  return std::vector<ClockReading>(count, {.sm_mhz = mhz, .reasons = shares_of(reasons)});
}

std::string differ(const std::vector<ClockReading>& base, const std::vector<ClockReading>& now) {
  return clocks_differ(describe_clocks(base), describe_clocks(now));
}

TEST(ClockRule, MediansUpToOnePercentApartAreEqual) {
  EXPECT_EQ(differ(at(10, 1000), at(10, 1010)), "");
  EXPECT_EQ(differ(at(10, 1000), at(10, 1011)),
            "the base ran at 1,000 MHz, the new at 1,011 MHz (medians)");
  EXPECT_NE(differ(at(10, 1000), at(10, 989)), "");
}

TEST(ClockRule, WhatIsNotKnownSpeaksAgainstNothing) {
  EXPECT_EQ(differ({}, {}), "");
  EXPECT_EQ(differ(at(3, 1000), std::vector<ClockReading>(3)), "");
  EXPECT_EQ(describe_clocks(std::vector<ClockReading>(3)).readings, 0U);
}

TEST(ClockRule, ASlowdownByHeatOrHardwareIsEnoughOnEitherSide) {
  std::vector<ClockReading> one_hot = at(100, 1000);
  one_hot.front().reasons = shares_of(kThermal);
  EXPECT_EQ(differ(at(100, 1000), one_hot),
            "software thermal slowdown for 1.0 % of the time of the new");
  EXPECT_NE(differ(one_hot, one_hot), "");
}

TEST(ClockRule, OtherReasonsMayDifferByFivePoints) {
  std::vector<ClockReading> some = at(100, 1000);
  for (std::size_t i = 0; i < 5; ++i) some[i].reasons = shares_of(kPowerCap);
  EXPECT_EQ(differ(at(100, 1000), some), "");
  some[5].reasons = shares_of(kPowerCap);
  EXPECT_NE(differ(at(100, 1000), some), "");
  EXPECT_EQ(differ(at(100, 1000, kPowerCap), at(100, 1000, kPowerCap)), "")
      << "alike on both sides";
}

TEST(ClockRule, AnIdleGpuBetweenSamplesIsNoReason) {
  EXPECT_EQ(differ(at(10, 1000), at(10, 1000, kIdle)), "");
}

TEST(ClockRule, AReasonMayHoldForAShareOfAReading) {
  const auto lowered = [](double share) {
    ClockReading reading{.sm_mhz = 1000, .reasons = ClockShares{}};
    (*reading.reasons)[*reason_bit("power_cap")] = share;
    return std::vector<ClockReading>(8, reading);
  };
  EXPECT_EQ(differ(lowered(0.50), lowered(0.55)), "");
  EXPECT_EQ(differ(lowered(0.50), lowered(0.56)),
            "software power cap for 50.0 % of the time of the base, 56.0 % of the new");
  EXPECT_EQ(reason_bit("no_reason"), std::nullopt);
}

/// Why a change of time by that ratio cannot be claimed.
std::string forbidden(double time_ratio, double base_mhz, double now_mhz) {
  const std::vector<double> base(10, 100);
  const std::vector<double> now(10, 100 * time_ratio);
  return clocks_forbid(claim_of(base, now, 0.01), {.values = base, .clocks = at(10, base_mhz)},
                       {.values = now, .clocks = at(10, now_mhz)}, 0.01);
}

TEST(ClockRule, AVerdictStaysWhereCyclesAgree) {
  EXPECT_EQ(forbidden(0.5, 1000, 1000), "");
  EXPECT_EQ(forbidden(0.5, 1000, 1200), "") << "0.6 of the cycles";
}

TEST(ClockRule, WhereCyclesDisagreeNothingCanBeTold) {
  EXPECT_EQ(forbidden(0.9, 1000, 1111),
            "the base ran at 1,000 MHz, the new at 1,111 MHz (medians)");
  EXPECT_NE(forbidden(1, 1000, 1100), "") << "same time, more cycles";
}

TEST(ClockRule, WithoutClocksCyclesAreNotKnown) {
  const std::vector<double> base(10, 100);
  const std::vector<double> now(10, 50);
  const std::vector<ClockReading> hot(10, {.sm_mhz = std::nullopt, .reasons = shares_of(kThermal)});
  EXPECT_NE(clocks_forbid(claim_of(base, now, 0.01), {.values = base, .clocks = hot},
                          {.values = now, .clocks = hot}, 0.01),
            "");
}

TEST(ClockRule, WhatIsNotClaimedNeedsNoClocks) {
  const std::vector<double> base(3, 100);
  const std::vector<double> now(3, 50);
  EXPECT_EQ(clocks_forbid(claim_of(base, now, 0.01), {.values = base, .clocks = at(3, 1000)},
                          {.values = now, .clocks = at(3, 2000)}, 0.01),
            "");
}

}  // namespace
}  // namespace fathom::measure

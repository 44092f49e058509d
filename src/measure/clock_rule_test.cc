// Clocks that differ withhold a verdict, unless cycles agree.
#include "measure/clock_rule.h"

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

constexpr std::uint64_t kIdle = 0x1;
constexpr std::uint64_t kPowerCap = 0x4;
constexpr std::uint64_t kThermal = 0x20;

std::vector<ClockReading> at(std::size_t count, double mhz, std::uint64_t reasons = 0) {
  return std::vector<ClockReading>(count, {.sm_mhz = mhz, .reasons = reasons});
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
  one_hot.front().reasons = kThermal;
  EXPECT_EQ(differ(at(100, 1000), one_hot),
            "software thermal slowdown in 1.0 % of the samples of the new");
  EXPECT_NE(differ(one_hot, one_hot), "");
}

TEST(ClockRule, OtherReasonsMayDifferByFivePoints) {
  std::vector<ClockReading> some = at(100, 1000);
  for (std::size_t i = 0; i < 5; ++i) some[i].reasons = kPowerCap;
  EXPECT_EQ(differ(at(100, 1000), some), "");
  some[5].reasons = kPowerCap;
  EXPECT_NE(differ(at(100, 1000), some), "");
  EXPECT_EQ(differ(at(100, 1000, kPowerCap), at(100, 1000, kPowerCap)), "")
      << "alike on both sides";
}

TEST(ClockRule, AnIdleGpuBetweenSamplesIsNoReason) {
  EXPECT_EQ(differ(at(10, 1000), at(10, 1000, kIdle)), "");
}

Claim held(double time_ratio, double base_mhz, double now_mhz) {
  const std::vector<double> base(10, 100);
  const std::vector<double> now(10, 100 * time_ratio);
  return hold_against_clocks(claim_of(base, now, 0.01), base, now, at(10, base_mhz),
                             at(10, now_mhz), 0.01);
}

TEST(ClockRule, AVerdictStaysWhereCyclesAgree) {
  EXPECT_EQ(held(0.5, 1000, 1000).verdict, Verdict::faster);
  EXPECT_EQ(held(0.5, 1000, 1200).verdict, Verdict::faster) << "0.6 of the cycles";
}

TEST(ClockRule, WhereCyclesDisagreeNothingCanBeTold) {
  const Claim claim = held(0.9, 1000, 1111);
  EXPECT_EQ(claim.verdict, Verdict::cannot_tell);
  EXPECT_EQ(claim.reason,
            "clocks differ: the base ran at 1,000 MHz, the new at 1,111 MHz (medians)");
  EXPECT_EQ(held(1, 1000, 1100).verdict, Verdict::cannot_tell) << "same time, more cycles";
}

TEST(ClockRule, WithoutClocksCyclesAreNotKnown) {
  const std::vector<double> base(10, 100);
  const std::vector<double> now(10, 50);
  const std::vector<ClockReading> hot(10, {.sm_mhz = std::nullopt, .reasons = kThermal});
  EXPECT_EQ(hold_against_clocks(claim_of(base, now, 0.01), base, now, hot, hot, 0.01).verdict,
            Verdict::cannot_tell);
}

}  // namespace
}  // namespace fathom::measure

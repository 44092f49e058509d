#include "compare/turns.h"

#include <cmath>
#include <numbers>
#include <random>
#include <string_view>

#include <gtest/gtest.h>

#include "compare/time_ratio.h"

namespace fathom {
namespace {

/// "bnnb": of which side the recordings were, in the order of time.
Turns turns_in(std::string_view order, std::size_t fewest = 2) {
  std::vector<StartTime> base;
  std::vector<StartTime> now;
  for (std::size_t i = 0; i < order.size(); ++i)
    (order[i] == 'b' ? base : now).emplace_back(1000 + static_cast<std::int64_t>(i));
  return turns_of(base, now, fewest);
}

TEST(Turns, NeighboursOfBothSidesArePairs) {
  const Turns turns = turns_in("bnnbbn");
  EXPECT_EQ(turns.reason, "");
  EXPECT_EQ(turns.alone, 0U);
  const std::vector<std::pair<std::size_t, std::size_t>> pairs = {{0, 0}, {1, 1}, {2, 2}};
  EXPECT_EQ(turns.pairs, pairs);
}

TEST(Turns, TheTimeMakesThePairsAndNotTheOrderInWhichTheyAreNamed) {
  const std::vector<StartTime> base = {50, 10};
  const std::vector<StartTime> now = {20, 40};
  const std::vector<std::pair<std::size_t, std::size_t>> pairs = {{1, 0}, {0, 1}};
  EXPECT_EQ(turns_of(base, now, 2).pairs, pairs);
}

TEST(Turns, AllOfTheOneAndThenAllOfTheOtherIsNone) {
  const Turns turns = turns_in("bbbbbbnnnnnn");
  EXPECT_EQ(turns.pairs.size(), 1U);
  EXPECT_EQ(turns.alone, 10U);
  EXPECT_NE(turns.reason.find("not recorded in turns"), std::string::npos);
  EXPECT_NE(turns.reason.find("check_change"), std::string::npos);
}

TEST(Turns, OneSideAlwaysFirstIsNoRandomOrder) {
  EXPECT_NE(turns_in("bnbnbn").reason.find("base was recorded first"), std::string::npos);
  EXPECT_NE(turns_in("nbnbnb").reason.find("new was recorded first"), std::string::npos);
}

TEST(Turns, WhatHasNoPartnerIsCounted) {
  const Turns turns = turns_in("bnnnbb");
  EXPECT_EQ(turns.pairs.size(), 2U);
  EXPECT_EQ(turns.alone, 2U);
  EXPECT_EQ(turns.reason, "");
}

TEST(Turns, WithoutTimesNothingIsKnown) {
  const std::vector<StartTime> base = {1, std::nullopt};
  const std::vector<StartTime> now = {2, 3};
  const Turns turns = turns_of(base, now, 1);
  EXPECT_TRUE(turns.pairs.empty());
  EXPECT_NE(turns.reason.find("older Fathom"), std::string::npos);
}

TEST(Turns, TheSameMomentIsNoTurn) {
  const std::vector<StartTime> base = {5};
  const Turns turns = turns_of(base, base, 1);
  EXPECT_TRUE(turns.pairs.empty());
  EXPECT_NE(turns.reason, "");
}

double normal(std::mt19937_64& bits) {
  const auto uniform = [&bits] { return static_cast<double>(bits() >> 11U) * 0x1p-53; };
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

/// How often a program is claimed to differ from itself on a machine whose speed wanders (AR(1)),
/// recorded in blocks or in pairs of random order.
struct Claimed {
  int by_runs = 0;   ///< By an interval that says it covers the runs.
  int by_signs = 0;  ///< By any interval.
};
Claimed claimed(bool in_turns, double correlation, int repeats) {
  constexpr std::size_t kRuns = 10;
  std::mt19937_64 bits(1);
  const Result<Budget> budget = parse_budget("step_time+0%");
  Claimed out;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    StepLengths base;
    StepLengths now;
    double wander = normal(bits);
    bool first_is_base = true;
    for (std::size_t i = 0; i < 2 * kRuns; ++i) {
      wander = correlation * wander + std::sqrt(1 - correlation * correlation) * normal(bits);
      if (i % 2 == 0) first_is_base = (bits() & 1U) != 0;
      const bool is_base = in_turns ? (i % 2 == 0) == first_is_base : i < kRuns;
      (is_base ? base : now)
          .push_back(
              {.lengths_ns = {1e6 * (1 + 0.02 * wander)}, .started = static_cast<std::int64_t>(i)});
    }
    const TimeRatio ratio = time_ratio(*budget, base, now);
    if (!ratio.interval || (ratio.interval->low <= 1 && ratio.interval->high >= 1)) continue;
    ++out.by_signs;
    out.by_runs += ratio.covers_runs ? 1 : 0;
  }
  return out;
}

TEST(Turns, BlocksOnAMachineThatWandersClaimNothingAndPairsClaimRarely) {
  constexpr int kRepeats = 1000;
  const Claimed blocks = claimed(false, 0.9, kRepeats);
  EXPECT_EQ(blocks.by_runs, 0);
  // What would be claimed if blocks were taken for pairs.
  EXPECT_GT(blocks.by_signs, kRepeats / 5);
  for (const double correlation : {0.0, 0.56, 0.9}) {
    const Claimed pairs = claimed(true, correlation, kRepeats);
    EXPECT_LE(pairs.by_runs, kRepeats * 65 / 1000) << correlation;
    EXPECT_EQ(pairs.by_runs, claimed(true, correlation, kRepeats).by_runs) << "the same seed";
  }
}

}  // namespace
}  // namespace fathom

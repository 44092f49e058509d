// The knee of a sweep, from made times: which values are as good as the best?
#include "measure/sweep.h"

#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "measure/metrics.h"

namespace fathom::measure {
namespace {

/// `rounds` values around each centre, with that relative noise.
VariedOutcome made(const std::vector<std::pair<std::string, double>>& centres, std::size_t rounds,
                   double noise = 0.002, std::string_view headline = kWallMetric,
                   std::uint64_t seed = 1) {
  std::mt19937_64 bits(seed);
  const auto uniform = [&bits] { return static_cast<double>(bits() >> 11U) * 0x1p-53; };
  const auto normal = [&] {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  };
  VariedOutcome outcome;
  outcome.name = "v";
  outcome.headline = headline;
  for (const auto& [value, centre] : centres) {
    VariedPoint point;
    point.value = value;
    for (std::size_t i = 0; i < rounds; ++i) point.now.push_back(centre * (1 + noise * normal()));
    outcome.points.push_back(std::move(point));
  }
  return outcome;
}

std::string knee(const VariedOutcome& outcome, double resolution = 0.01) {
  const SweepVerdict verdict = judge_sweep(outcome, false, resolution);
  return verdict.knee ? outcome.points[*verdict.knee].value : "none";
}

TEST(Sweep, TheKneeIsTheSmallestValueWithinTheResolutionOfTheBest) {
  EXPECT_EQ(knee(made({{"0", 200}, {"1", 120}, {"2", 100.5}, {"4", 100}}, 40), 0.02), "2");
  EXPECT_EQ(knee(made({{"4", 100}, {"2", 100.5}, {"0", 200}, {"1", 120}}, 40), 0.02), "2")
      << "in whatever order they are given";
  EXPECT_EQ(knee(made({{"8", 100}, {"16", 110}, {"32", 120}}, 40)), "8");
}

TEST(Sweep, OfWhatIsBetterWhenMoreTheBestIsTheLargest) {
  const VariedOutcome outcome =
      made({{"8", 100}, {"16", 190}, {"32", 199.5}, {"64", 200}}, 40, 0.002, kThroughputMetric);
  EXPECT_EQ(knee(outcome, 0.02), "32");
  const SweepVerdict verdict = judge_sweep(outcome, false, 0.02);
  ASSERT_TRUE(verdict.rows[0].cost);
  EXPECT_NEAR(verdict.rows[0].cost->ratio, 2, 0.05) << "half the samples cost twice the time";
}

TEST(Sweep, WhatCannotBeToldIsNoKneeButNamed) {
  const VariedOutcome outcome = made({{"1", 101}, {"2", 100}}, 8, 0.05);
  const SweepVerdict verdict = judge_sweep(outcome, false, 0.01);
  ASSERT_TRUE(verdict.knee);
  EXPECT_EQ(*verdict.knee, *verdict.best);
  if (*verdict.best == 1) {
    EXPECT_EQ(verdict.perhaps, (std::vector<std::size_t>{0}));
  }
}

TEST(Sweep, BelowSixRoundsThereIsNoKnee) {
  EXPECT_EQ(knee(made({{"1", 200}, {"2", 100}}, 5)), "none");
  EXPECT_EQ(knee(made({{"1", 200}, {"2", 100}}, 6)), "2");
}

TEST(Sweep, WordsKeepTheirOrder) {
  EXPECT_EQ(knee(made({{"fp32", 100}, {"bf16", 100}, {"fp8", 100}}, 60, 0.001)), "fp32");
}

TEST(Sweep, AValueWithoutMemoryTakesNoPart) {
  VariedOutcome outcome = made({{"8", 120}, {"16", 100}, {"32", 1}}, 20);
  outcome.points[2].state = PointState::out_of_memory;
  const SweepVerdict verdict = judge_sweep(outcome, false, 0.01);
  EXPECT_EQ(outcome.points[*verdict.best].value, "16");
  EXPECT_FALSE(verdict.rows[2].now);
}

/// Runs of each value's rounds at a clock.
void at_clocks(VariedOutcome& outcome, const std::vector<double>& mhz, Side side = Side::now) {
  for (std::size_t place = 0; place < outcome.points.size(); ++place) {
    VariedPoint& point = outcome.points[place];
    for (std::size_t round = 0; round < point.now.size(); ++round) {
      BenchRun run;
      run.side = side;
      run.pair = round;
      run.devices = SessionDevices{};
      run.devices->paces.push_back({.gpu = 0, .sm_mhz = mhz[place], .throttled = {}});
      point.runs.push_back(std::move(run));
    }
  }
}

TEST(Sweep, AValueAtOtherClocksIsNoKneeButNamed) {
  VariedOutcome outcome = made({{"1", 200}, {"2", 100.5}, {"4", 100}}, 40);
  at_clocks(outcome, {1400, 1400, 1400});
  EXPECT_EQ(knee(outcome, 0.02), "2");
  for (VariedPoint& point : outcome.points) point.runs.clear();
  at_clocks(outcome, {1300, 1300, 1400});
  const SweepVerdict verdict = judge_sweep(outcome, false, 0.02);
  EXPECT_EQ(verdict.rows[0].standing, Standing::worse) << "by cycles, too";
  EXPECT_EQ(verdict.rows[0].clocks, "");
  // 100.5 at 1300 are fewer cycles than 100 at 1400: as good by cycles as well.
  EXPECT_EQ(verdict.rows[1].standing, Standing::within);
  for (VariedPoint& point : outcome.points) point.runs.clear();
  at_clocks(outcome, {1400, 1500, 1400});
  const SweepVerdict fast = judge_sweep(outcome, false, 0.02);
  EXPECT_EQ(fast.rows[1].standing, Standing::cannot_tell);
  EXPECT_EQ(fast.rows[1].clocks,
            "clocks differ: GPU 0: the best ran at 1,400 MHz, this value at 1,500 MHz (medians)");
  EXPECT_EQ(outcome.points[*fast.knee].value, "4");
  EXPECT_EQ(fast.perhaps, (std::vector<std::size_t>{1}));
}

TEST(Sweep, MemoryDoesNotAskForClocks) {
  VariedOutcome outcome = made({{"1", 200}, {"2", 100.5}, {"4", 100}}, 40, 0.002, "peak_memory");
  at_clocks(outcome, {1400, 1500, 1400});
  EXPECT_EQ(knee(outcome, 0.02), "2");
}

TEST(Sweep, AgainstABaseAtOtherClocksNothingIsClaimed) {
  VariedOutcome outcome = made({{"1", 110}, {"2", 110}}, 40);
  for (VariedPoint& point : outcome.points) point.base.assign(40, 100);
  at_clocks(outcome, {1400, 1270});
  at_clocks(outcome, {1400, 1400}, Side::base);
  const SweepVerdict verdict = judge_sweep(outcome, true, 0.01);
  EXPECT_EQ(verdict.rows[0].claim->verdict, Verdict::slower);
  EXPECT_EQ(verdict.rows[0].clocks, "");
  EXPECT_EQ(verdict.rows[1].claim->verdict, Verdict::cannot_tell);
  EXPECT_TRUE(verdict.rows[1].clocks.starts_with("clocks differ: GPU 0: the base ran at 1,400"));
  EXPECT_EQ(verdict.rows[1].claim->reason, verdict.rows[1].clocks);
}

/// Of values that all take as long, none is certainly worse than the best by more than nothing in
/// more than one of twenty rows.
TEST(Sweep, EqualValuesAreSeldomCalledWorse) {
  std::size_t worse = 0;
  std::size_t rows = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const VariedOutcome outcome =
        made({{"1", 100}, {"2", 100}, {"3", 100}, {"4", 100}}, 20, 0.02, kWallMetric, seed);
    const SweepVerdict verdict = judge_sweep(outcome, false, 0.01);
    for (const SweepRow& row : verdict.rows) {
      ++rows;
      worse += row.standing == Standing::worse ? 1 : 0;
    }
  }
  EXPECT_LE(static_cast<double>(worse), 0.05 * static_cast<double>(rows));
}

}  // namespace
}  // namespace fathom::measure

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

// The knee is the smallest value that is certainly as good as the best.
#include "measure/knee.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

/// Eight costs around a centre, each `spread` of it further out; by turns below and above.
std::vector<double> around(double centre, double spread = 0) {
  std::vector<double> costs;
  for (const int place : {-4, 4, -3, 3, -2, 2, -1, 1})
    costs.push_back(centre * (1 + spread * place));
  return costs;
}

using Lists = std::vector<std::vector<double>>;

Knee found(const Lists& costs, const std::vector<double>& values, double resolution = 0.01) {
  return find_knee(costs, ascending_places(values), resolution);
}

TEST(Knee, IsTheSmallestValueWithinTheResolutionOfTheBest) {
  const Lists costs = {around(10), around(5.04), around(5), around(5.2)};
  EXPECT_EQ(found(costs, {1, 2, 4, 8}, 0.01).knee, 1U);
  EXPECT_EQ(found(costs, {1, 2, 4, 8}, 0.001).knee, 2U);
  EXPECT_EQ(found(costs, {1, 2, 4, 8}, 2).knee, 0U);
}

TEST(Knee, DoesNotDependOnTheOrder) {
  EXPECT_EQ(found({around(5), around(10), around(5)}, {8, 1, 4}).knee, 2U);
}

TEST(Knee, LeavesOutWhatWasNotMeasured) {
  const Knee one = found({{}, around(7)}, {1, 2});
  EXPECT_EQ(one.knee, 1U);
  EXPECT_FALSE(one.rows[0].standing);
  EXPECT_EQ(found({{}}, {1}).knee, std::nullopt);
  EXPECT_EQ(found({}, {}).best, std::nullopt);
}

TEST(Knee, MustBeCertainAndWhatIsNotIsNamed) {
  const Knee wide = found({around(10), around(5.02, 0.02), around(5)}, {1, 2, 4});
  EXPECT_EQ(wide.knee, 2U);
  EXPECT_EQ(wide.perhaps, (std::vector<std::size_t>{1}));
  EXPECT_EQ(wide.rows[0].standing, Standing::worse);
  EXPECT_EQ(wide.rows[1].standing, Standing::cannot_tell);
}

TEST(Knee, IsSettledAnewWhereAStandingIsWithheld) {
  const Lists costs = {around(10), around(5.04), around(5)};
  Knee knee = found(costs, {1, 2, 4});
  ASSERT_EQ(knee.knee, 1U);
  knee.rows[1].standing = Standing::cannot_tell;
  const std::vector<std::size_t> ascending = {0, 1, 2};
  settle_knee(knee, ascending);
  EXPECT_EQ(knee.knee, 2U);
  EXPECT_EQ(knee.perhaps, (std::vector<std::size_t>{1}));
}

TEST(Knee, NeedsCostsEnoughForAnInterval) {
  EXPECT_EQ(found({{10, 10}, {5, 5}}, {1, 2}).knee, std::nullopt);
  EXPECT_EQ(found({{10, 10}, {5, 5}}, {1, 2}).best, 1U);
}

TEST(Knee, WhatARoundHasInCommonIsNoDifferenceBetweenValues) {
  const std::vector<double> noisy = around(5, 0.1);
  std::vector<double> twice;
  for (const double cost : noisy) twice.push_back(cost * 1.002);
  EXPECT_EQ(found({twice, noisy}, {1, 2}).knee, 0U);
}

/// Costs of rounds that differ by noise alone; the first value costs `factor` times as much.
Lists noisy(std::size_t values, std::size_t rounds, double factor, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> noise(0, 0.05);
  Lists costs(values);
  for (std::vector<double>& each : costs) {
    for (std::size_t round = 0; round < rounds; ++round) each.push_back(std::exp(noise(bits)));
  }
  for (double& cost : costs.front()) cost *= factor;
  return costs;
}

std::size_t rows_that_are_worse(const Knee& knee) {
  std::size_t worse = 0;
  for (const KneeRow& row : knee.rows) worse += row.standing == Standing::worse ? 1 : 0;
  return worse;
}

/// Any of the values may look best by chance, so their pairs are judged together: 5 % of sweeps,
/// and three standard errors to spare.
TEST(Knee, OfEqualValuesSweepsSeldomCallOneWorse) {
  constexpr std::size_t kSweeps = 300;
  const double most = kSweeps * 0.05 + 3 * std::sqrt(kSweeps * 0.05 * 0.95);
  for (const auto& [values, rounds] : {std::pair{20, 8}, {20, 30}, {6, 20}, {3, 40}}) {
    std::size_t wrong = 0;
    for (std::size_t seed = 0; seed < kSweeps; ++seed) {
      const Lists costs =
          noisy(static_cast<std::size_t>(values), static_cast<std::size_t>(rounds), 1, seed);
      const Knee knee = found(costs, std::vector<double>(costs.size()), 0.001);
      wrong += rows_that_are_worse(knee) > 0 ? 1 : 0;
    }
    EXPECT_LE(static_cast<double>(wrong), most) << values << " values, " << rounds << " rounds";
  }
}

TEST(Knee, OfManyValuesASlowOneIsFound) {
  constexpr std::size_t kSweeps = 40;
  std::size_t found_slow = 0;
  for (std::uint64_t seed = 0; seed < kSweeps; ++seed) {
    const Knee knee = found(noisy(20, 20, 1.2, seed), std::vector<double>(20));
    found_slow += knee.rows[0].standing == Standing::worse ? 1 : 0;
  }
  EXPECT_GE(found_slow, kSweeps - 2);
}

}  // namespace
}  // namespace fathom::measure

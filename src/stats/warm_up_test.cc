#include "stats/warm_up.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// In [-1, 1), the same from every standard library.
class Noise {
 public:
  double next() { return static_cast<double>(bits_() >> 11U) * 0x1p-52 - 1; }

 private:
  std::mt19937_64 bits_{7};
};

/// `count` times around `level`, 1 % apart at most.
void add(std::vector<double>& times, Noise& noise, std::size_t count, double level) {
  for (std::size_t i = 0; i < count; ++i) times.push_back(level * (1 + 0.01 * noise.next()));
}

double cost_of(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  double mean = 0;
  for (std::size_t i = begin; i < end; ++i) mean += values[i];
  mean /= static_cast<double>(end - begin);
  double square = 0;
  for (std::size_t i = begin; i < end; ++i) square += (values[i] - mean) * (values[i] - mean);
  return static_cast<double>(end - begin) *
         std::log(std::max(1e-10, square / static_cast<double>(end - begin)));
}

/// The same minimum without pruning.
double least_cost(const std::vector<double>& values, double penalty) {
  std::vector<double> best(values.size() + 1, std::numeric_limits<double>::infinity());
  best[0] = -penalty;
  for (std::size_t end = 2; end <= values.size(); ++end) {
    for (std::size_t begin = 0; begin + 2 <= end; ++begin)
      best[end] = std::min(best[end], best[begin] + cost_of(values, begin, end) + penalty);
  }
  return best.back();
}

double cost_of_division(const std::vector<double>& values, const std::vector<std::size_t>& found,
                        double penalty) {
  double cost = -penalty;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= found.size(); ++i) {
    const std::size_t end = i < found.size() ? found[i] : values.size();
    cost += cost_of(values, begin, end) + penalty;
    begin = end;
  }
  return cost;
}

/// Levels and spreads as steps have them, with single values far off.
std::vector<double> random_series(std::mt19937_64& bits) {
  constexpr double kLevels[] = {0, 0.02, 0.1, 0.5};
  constexpr double kSpreads[] = {1e-4, 1e-3, 1e-2, 5e-2};
  constexpr std::size_t kLengths[] = {20, 30, 50, 80};
  const std::size_t length = kLengths[bits() % 4];
  const std::size_t pieces = 1 + bits() % 4;
  std::vector<double> values;
  while (values.size() < length) {
    const double level = kLevels[bits() % 4];
    const double spread = kSpreads[bits() % 4];
    for (std::size_t i = 0; i < (length + pieces - 1) / pieces; ++i) {
      const double apart = static_cast<double>(bits() >> 11U) * 0x1p-52 - 1;
      values.push_back(level + spread * apart + (bits() % 10 == 0 ? 0.5 : 0));
    }
  }
  return values;
}

TEST(Changepoints, OfShortSegmentsAreTheMinimumToo) {
  std::mt19937_64 bits(1);
  int worse = 0;
  for (int repeat = 0; repeat < 3000; ++repeat) {
    const std::vector<double> values = random_series(bits);
    const double penalty = 15 * std::log(static_cast<double>(values.size()));
    const double cost = cost_of_division(values, changepoints(values, penalty), penalty);
    worse += cost > least_cost(values, penalty) + 1e-6 ? 1 : 0;
  }
  EXPECT_EQ(worse, 0);
}

TEST(Changepoints, MinimiseTheSumOfCostsAsExhaustiveSearchDoes) {
  Noise noise;
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<double> values;
    values.reserve(120);
    for (int i = 0; i < 120; ++i) values.push_back(noise.next() + (i % 50 < 20 ? 1.5 : 0));
    const double penalty = 12;
    const double cost = cost_of_division(values, changepoints(values, penalty), penalty);
    EXPECT_NEAR(cost, least_cost(values, penalty), 1e-6);
  }
}

TEST(WarmUp, OfOneLevelIsFlat) {
  Noise noise;
  std::vector<double> times;
  add(times, noise, 100, 5);
  const auto found = find_warm_up(times);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Steadiness::flat);
  EXPECT_EQ(found->after, 0U);
}

TEST(WarmUp, EndsWhereTheLastLevelBegins) {
  Noise noise;
  std::vector<double> times;
  add(times, noise, 10, 8);
  add(times, noise, 5, 6);
  add(times, noise, 85, 5);
  const auto found = find_warm_up(times);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Steadiness::warm);
  EXPECT_EQ(found->after, 15U);
}

TEST(WarmUp, IsASlowDownWhereItWasFasterBefore) {
  Noise noise;
  std::vector<double> times;
  add(times, noise, 30, 5);
  add(times, noise, 70, 6);
  const auto found = find_warm_up(times);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Steadiness::slowed);
  EXPECT_EQ(found->after, 30U);
}

TEST(WarmUp, IsNeverSteadyWhereTheLevelChangesInTheLastQuarter) {
  Noise noise;
  std::vector<double> times;
  add(times, noise, 40, 5);
  add(times, noise, 45, 6);
  add(times, noise, 15, 5.5);
  const auto found = find_warm_up(times);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Steadiness::never_steady);
}

TEST(WarmUp, OfManyValuesIsKnownToTwoGroups) {
  Noise noise;
  std::vector<double> times;
  add(times, noise, 3002, 6);
  add(times, noise, 7002, 5);
  const auto found = find_warm_up_of_many(times);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Steadiness::warm);
  EXPECT_NEAR(static_cast<double>(found->after), 3002, 2 * 6);
}

TEST(WarmUp, AbstainsForFewValuesAndForTimesOfZero) {
  EXPECT_FALSE(find_warm_up(std::vector<double>(19, 1.0)));
  EXPECT_FALSE(find_warm_up(std::vector<double>(30, 0.0)));
  EXPECT_TRUE(find_warm_up(std::vector<double>(30, 1.0)));
}

TEST(Autocorrelation, IsHighOfADriftAndNearZeroOfIndependentValues) {
  Noise noise;
  std::vector<double> drift;
  std::vector<double> white;
  for (int i = 0; i < 2000; ++i) {
    drift.push_back(i);
    white.push_back(noise.next());
  }
  EXPECT_GT(autocorrelation(drift), 0.99);
  EXPECT_NEAR(autocorrelation(white), 0, 0.06);
  EXPECT_EQ(autocorrelation(std::vector<double>(9, 4.0)), 0);
}

}  // namespace
}  // namespace fathom

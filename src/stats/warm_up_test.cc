#include "stats/warm_up.h"

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
  return static_cast<double>(end - begin) * std::log(square / static_cast<double>(end - begin));
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

TEST(Changepoints, MinimiseTheSumOfCostsAsExhaustiveSearchDoes) {
  Noise noise;
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<double> values;
    values.reserve(120);
    for (int i = 0; i < 120; ++i) values.push_back(noise.next() + (i % 50 < 20 ? 1.5 : 0));
    const double penalty = 12;
    const std::vector<std::size_t> found = changepoints(values, penalty);
    double cost = -penalty;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= found.size(); ++i) {
      const std::size_t end = i < found.size() ? found[i] : values.size();
      cost += cost_of(values, begin, end) + penalty;
      begin = end;
    }
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

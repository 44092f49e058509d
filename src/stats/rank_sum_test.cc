#include "stats/rank_sum.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(RankSum, IsExactForFewValues) {
  // Fully apart: 2 of the orders, of which there are 70 for four and four.
  const std::vector<double> low = {1, 2, 3, 4};
  const std::vector<double> high = {5, 6, 7, 8};
  EXPECT_DOUBLE_EQ(*rank_sum_p(low, high), 2.0 / 70);
  EXPECT_DOUBLE_EQ(*rank_sum_p(high, low), 2.0 / 70);
  // R: wilcox.test(c(1, 4, 6), c(2, 3, 5, 7))$p.value
  EXPECT_NEAR(*rank_sum_p(std::vector<double>{1, 4, 6}, std::vector<double>{2, 3, 5, 7}),
              0.857142857142857, 1e-12);
}

TEST(RankSum, OfEqualValuesSeesNoDifference) {
  const std::vector<double> same(30, 2.0);
  EXPECT_EQ(*rank_sum_p(same, same), 1);
}

TEST(RankSum, TakesZeroAsAnyOtherValue) {
  const auto shifted = [](std::vector<double> values) {
    for (double& value : values) value += 10;
    return values;
  };
  std::mt19937_64 bits(11);
  const auto drawn = [&bits](std::size_t n) {
    std::vector<double> values(n);
    for (double& value : values) value = static_cast<double>(bits() % 7) - 3;
    return values;
  };
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::vector<double> a = drawn(1 + bits() % 25);
    const std::vector<double> b = drawn(1 + bits() % 25);
    EXPECT_DOUBLE_EQ(*rank_sum_p(a, b), *rank_sum_p(shifted(a), shifted(b)));
  }
}

TEST(RankSum, KnowsWhatFewValuesCanShow) {
  EXPECT_NEAR(smallest_rank_sum_p(4, 4), 2.0 / 70, 1e-12);
  EXPECT_EQ(smallest_rank_sum_p(1, 1), 1);
}

TEST(RankSum, OfNothingIsUnset) { EXPECT_FALSE(rank_sum_p({}, std::vector<double>{1})); }

TEST(RankSum, RejectsEqualDistributionsInAtMostFivePercent) {
  std::mt19937_64 bits(7);
  for (const std::size_t n : {8U, 40U}) {
    int claims = 0;
    for (int repeat = 0; repeat < 1000; ++repeat) {
      std::vector<double> a;
      std::vector<double> b;
      for (std::size_t i = 0; i < n; ++i) {
        a.push_back(static_cast<double>(bits() >> 11U));
        b.push_back(static_cast<double>(bits() >> 11U));
      }
      claims += *rank_sum_p(a, b) <= 0.05 ? 1 : 0;
    }
    EXPECT_LE(claims, 65) << n;
    EXPECT_GE(claims, 20) << n;
  }
}

}  // namespace
}  // namespace fathom

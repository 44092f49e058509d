#include "stats/median_interval.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(MedianRanks, AreThoseOfTheTable) {
  // Ranks from 1 in Conover, "Practical Nonparametric Statistics", for the median at 95 %.
  const std::vector<std::array<std::size_t, 3>> table = {
      {6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {10, 2, 9}, {20, 6, 15}, {30, 10, 21}, {100, 40, 61}};
  for (const auto& [n, low, high] : table) {
    const std::optional<RankPair> ranks = median_ranks(n, 0.95);
    ASSERT_TRUE(ranks) << n;
    EXPECT_EQ(ranks->low + 1, low) << n;
    EXPECT_EQ(ranks->high + 1, high) << n;
  }
}

TEST(MedianRanks, NeedSixValuesAtNinetyFivePercent) {
  for (std::size_t n = 0; n < 6; ++n) EXPECT_FALSE(median_ranks(n, 0.95)) << n;
}

TEST(MedianRanks, OfAMillionValuesLieCloseToTheMiddle) {
  const std::optional<RankPair> ranks = median_ranks(1'000'000, 0.95);
  ASSERT_TRUE(ranks);
  // 1.96 standard deviations, which are 500.
  EXPECT_NEAR(static_cast<double>(ranks->low), 500'000 - 980, 2);
  EXPECT_EQ(ranks->low + ranks->high, 999'999U);
}

TEST(SamplesForQuantile, AreWilksNumbers) {
  EXPECT_EQ(samples_for_quantile(0.95), 59U);
  EXPECT_EQ(samples_for_quantile(0.99), 299U);
}

}  // namespace
}  // namespace fathom

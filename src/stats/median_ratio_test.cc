#include "stats/median_ratio.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(MedianRatio, NeedsSevenValuesASideForItsInterval) {
  EXPECT_EQ(fewest_for_median_ratio(), 7U);
  const std::vector<double> six = {10, 11, 12, 13, 14, 15};
  const std::vector<double> seven = {10, 11, 12, 13, 14, 15, 16};
  ASSERT_TRUE(median_ratio(six, seven));
  EXPECT_FALSE(median_ratio(six, seven)->interval);
  EXPECT_TRUE(median_ratio(seven, seven)->interval);
}

TEST(MedianRatio, GoesFromTheLeastToTheMostThatBothMediansAllow) {
  const std::optional<MedianRatio> found =
      median_ratio({16, 10, 11, 12, 13, 14, 15}, {20, 21, 22, 23, 24, 25, 26});
  ASSERT_TRUE(found && found->interval);
  EXPECT_DOUBLE_EQ(found->ratio, 23.0 / 13);
  EXPECT_DOUBLE_EQ(found->interval->low, 20.0 / 16);
  EXPECT_DOUBLE_EQ(found->interval->high, 26.0 / 10);
}

TEST(MedianRatio, IsUnsetWhereNothingCanBeDivided) {
  EXPECT_FALSE(median_ratio({}, {1}));
  EXPECT_FALSE(median_ratio({0, 0, 1}, {1}));
  EXPECT_FALSE(median_ratio({-1, 1, 1}, {1}));
}

TEST(MedianRatio, ValuesOfZeroCountLikeOthers) {
  const std::optional<MedianRatio> found =
      median_ratio({4, 4, 4, 4, 4, 4, 4, 4, 4, 0}, {0, 2, 2, 2, 2, 2, 2, 2, 2, 2});
  ASSERT_TRUE(found && found->interval);
  EXPECT_DOUBLE_EQ(found->ratio, 0.5);
  const std::optional<MedianRatio> open =
      median_ratio({0, 0, 0, 4, 4, 4, 4}, {2, 2, 2, 2, 2, 2, 2});
  ASSERT_TRUE(open);
  EXPECT_FALSE(open->interval);
}

}  // namespace
}  // namespace fathom

#include "stats/long_outliers.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(FenceOfLong, LiesAboveTheThirdQuartile) {
  EXPECT_DOUBLE_EQ(fence_of_long({10, 20, 30, 40, 50}).value(), 40 + 1.5 * 20);
}

TEST(FenceOfLong, IsAtLeastOneAndAHalfMediansWhereValuesHardlyDiffer) {
  EXPECT_DOUBLE_EQ(fence_of_long({100, 100, 100, 101}).value(), 150);
}

TEST(FenceOfLong, IsUnsetBelowFourValues) {
  EXPECT_FALSE(fence_of_long({}));
  EXPECT_FALSE(fence_of_long({1, 1, 100}));
}

}  // namespace
}  // namespace fathom

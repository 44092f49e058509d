// The knee is the smallest value that is as good as the best.
#include "measure/knee.h"

#include <vector>

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

TEST(Knee, IsTheSmallestValueWithinTheResolutionOfTheBest) {
  const std::vector<KneePoint> points = {{1, 10.0}, {2, 5.04}, {4, 5.0}, {8, 5.2}};
  EXPECT_EQ(knee_of(points, 0.01), 1U);
  EXPECT_EQ(knee_of(points, 0.001), 2U);
  EXPECT_EQ(knee_of(points, 2), 0U);
}

TEST(Knee, DoesNotDependOnTheOrder) {
  const std::vector<KneePoint> points = {{8, 5.0}, {1, 10.0}, {4, 5.0}};
  EXPECT_EQ(knee_of(points, 0.01), 2U);
}

TEST(Knee, LeavesOutWhatWasNotMeasured) {
  const std::vector<KneePoint> points = {{1, std::nullopt}, {2, 7.0}};
  EXPECT_EQ(knee_of(points, 0.01), 1U);
  EXPECT_EQ(knee_of(std::vector<KneePoint>{{1, std::nullopt}}, 0.01), std::nullopt);
  EXPECT_EQ(knee_of({}, 0.01), std::nullopt);
}

}  // namespace
}  // namespace fathom::measure

// The knee is the smallest value that is certainly as good as the best.
#include "measure/knee.h"

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

Knee found(const Lists& costs, const std::vector<double>& values, double resolution = 0.01,
           Costs kind = Costs::apart) {
  return find_knee(costs, ascending_places(values), kind, resolution);
}

TEST(Knee, IsTheSmallestValueWithinTheResolutionOfTheBest) {
  for (const Costs kind : {Costs::apart, Costs::of_rounds}) {
    const Lists costs = {around(10), around(5.04), around(5), around(5.2)};
    EXPECT_EQ(found(costs, {1, 2, 4, 8}, 0.01, kind).knee, 1U);
    EXPECT_EQ(found(costs, {1, 2, 4, 8}, 0.001, kind).knee, 2U);
    EXPECT_EQ(found(costs, {1, 2, 4, 8}, 2, kind).knee, 0U);
  }
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

/// What a round has in common is no difference between values; without rounds nobody knows.
TEST(Knee, RoundsTellMoreThanValuesApart) {
  const std::vector<double> noisy = around(5, 0.1);
  std::vector<double> twice;
  for (const double cost : noisy) twice.push_back(cost * 1.002);
  EXPECT_EQ(found({twice, noisy}, {1, 2}, 0.01, Costs::of_rounds).knee, 0U);
  EXPECT_EQ(found({twice, noisy}, {1, 2}, 0.01, Costs::apart).knee, 1U);
}

}  // namespace
}  // namespace fathom::measure

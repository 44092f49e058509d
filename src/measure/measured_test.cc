// What is reported of values that have a level, and of those that have none.
#include "measure/measured.h"

#include <gtest/gtest.h>

#include "measure/measured_text.h"

namespace fathom::measure {
namespace {

/// Stretches of values with a little noise that has no pattern of its own.
std::vector<double> levels(const std::vector<std::pair<std::size_t, double>>& stretches) {
  std::vector<double> values;
  for (const auto& [count, level] : stretches) {
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(level * (1 + 0.001 * static_cast<double>(values.size() * 7 % 11)));
  }
  return values;
}

constexpr ValueWords kRuns = {.one = "run", .many = "runs", .warm_up = "--warmup"};

TEST(MeasuredSide, ThatIsSteadyHasIntervalAndPercentiles) {
  const MeasuredSide side = measured_side(levels({{400, 100}}));
  ASSERT_TRUE(side.warm_up);
  ASSERT_EQ(side.warm_up->kind, Steadiness::flat);
  EXPECT_TRUE(side.summary.median_interval && side.summary.p95 && side.summary.p99);
  EXPECT_FALSE(side.steady_median);
  EXPECT_EQ(steadiness_text(side, Unit::ns, kRuns), "");
}

TEST(MeasuredSide, ThatWasNeverSteadyHasNoLevelToDescribe) {
  const MeasuredSide side = measured_side(levels({{300, 100}, {60, 200}, {40, 150}}));
  ASSERT_TRUE(side.never_steady());
  EXPECT_FALSE(side.summary.median_interval || side.summary.p95 || side.summary.p99);
  EXPECT_GT(side.summary.median, 0) << "of the values, which are what they are";
  EXPECT_FALSE(side.steady_median);
  const std::string text = spread_text(side.summary, Unit::ns, withheld_of(side));
  EXPECT_NE(text.find("p99 – (never steady)"), std::string::npos) << text;
  EXPECT_EQ(steadiness_text(side, Unit::ns, kRuns),
            "; never steady: there is no one level, so no interval of the median");
}

TEST(MeasuredSide, ThatSlowedDownHasTheLevelThatLasts) {
  const MeasuredSide side = measured_side(levels({{30, 100}, {120, 200}}));
  ASSERT_TRUE(side.warm_up);
  ASSERT_EQ(side.warm_up->kind, Steadiness::slowed);
  ASSERT_TRUE(side.steady_median);
  EXPECT_NEAR(*side.steady_median, 201, 1);
  EXPECT_TRUE(steadiness_text(side, Unit::ns, kRuns)
                  .starts_with("; slower after 30 runs, then median 201"));
}

TEST(MeasuredSide, AVerdictAboutUnsteadyValuesSaysWhatItIsAbout) {
  MeasuredMetric metric;
  metric.base = measured_side(levels({{300, 100}, {60, 200}, {40, 150}}));
  metric.now = measured_side(levels({{400, 100}}));
  EXPECT_EQ(unsteady_note(metric), "") << "nothing is claimed";
  metric.claim.verdict = Verdict::faster;
  EXPECT_NE(unsteady_note(metric).find("about these pairs"), std::string::npos);
  metric.base = metric.now;
  EXPECT_EQ(unsteady_note(metric), "");
}

}  // namespace
}  // namespace fathom::measure

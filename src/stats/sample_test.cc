#include "stats/sample.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::vector<double> counted(std::size_t n) {
  std::vector<double> values;
  for (std::size_t i = 1; i <= n; ++i) values.push_back(static_cast<double>(i));
  return values;
}

TEST(Sample, OfNothingIsEmpty) {
  const SampleSummary summary = describe({});
  EXPECT_EQ(summary.count, 0U);
  EXPECT_FALSE(summary.median_interval);
  EXPECT_FALSE(summary.p95);
}

TEST(Sample, HasTheIntervalOfItsMedianFromSixValuesOn) {
  EXPECT_FALSE(describe(counted(5)).median_interval);
  const SampleSummary six = describe(counted(6));
  ASSERT_TRUE(six.median_interval);
  EXPECT_EQ(six.median_interval->low, 1);
  EXPECT_EQ(six.median_interval->high, 6);
}

TEST(Sample, KnowsAPercentileOnlyWhereTheSampleReachesBeyondIt) {
  EXPECT_FALSE(describe(counted(58)).p95);
  EXPECT_TRUE(describe(counted(59)).p95);
  EXPECT_FALSE(describe(counted(298)).p99);
  EXPECT_TRUE(describe(counted(299)).p99);
  EXPECT_EQ(percentile_reason(12, 0.95), "needs 59 values, has 12");
  EXPECT_EQ(percentile_reason(59, 0.95), "");
}

TEST(Sample, CountsOutliersAndDropsNone) {
  std::vector<double> values = counted(9);
  values.push_back(1000);
  const SampleSummary summary = describe(values);
  EXPECT_EQ(summary.outliers, 1U);
  EXPECT_EQ(summary.max, 1000);
  EXPECT_DOUBLE_EQ(summary.mean, 104.5);
}

}  // namespace
}  // namespace fathom

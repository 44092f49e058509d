#include "stats/summary.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Summary, DescribesASample) {
  const Summary summary = summarize({4, 1, 3, 2});
  EXPECT_EQ(summary.count, 4U);
  EXPECT_DOUBLE_EQ(summary.mean, 2.5);
  EXPECT_DOUBLE_EQ(summary.stddev, 1.2909944487358056);
  EXPECT_DOUBLE_EQ(summary.min, 1);
  EXPECT_DOUBLE_EQ(summary.median, 2.5);
  EXPECT_DOUBLE_EQ(summary.max, 4);
}

TEST(Summary, OfNothingIsZero) {
  const Summary summary = summarize({});
  EXPECT_EQ(summary.count, 0U);
  EXPECT_EQ(summary.median, 0);
}

TEST(Summary, OfOneValueHasNoSpread) {
  const Summary summary = summarize({7});
  EXPECT_EQ(summary.stddev, 0);
  EXPECT_EQ(summary.median, 7);
}

std::vector<double> counted(std::size_t size) {
  std::vector<double> values;
  for (std::size_t i = 1; i <= size; ++i) values.push_back(static_cast<double>(i));
  return values;
}

TEST(Summary, NamesATailOnlyWhereThereAreEnoughValues) {
  EXPECT_FALSE(summarize(counted(58)).p95);
  EXPECT_DOUBLE_EQ(summarize(counted(59)).p95.value_or(0), 56.1);
  EXPECT_FALSE(summarize(counted(298)).p99);
  EXPECT_DOUBLE_EQ(summarize(counted(299)).p99.value_or(0), 296.02);
}

TEST(Quantile, TakesTheEndsExactly) {
  EXPECT_EQ(quantile({1, 5, 9}, 0), 1);
  EXPECT_EQ(quantile({1, 5, 9}, 1), 9);
  EXPECT_EQ(quantile({1, 5, 9}, 0.25), 3);
}

TEST(RunningMoments, KeepsItsPrecisionFarFromZero) {
  RunningMoments moments;
  for (const double value : {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}) moments.add(value);
  EXPECT_NEAR(moments.stddev(), 5.477225575051661, 1e-9);
}

}  // namespace
}  // namespace fathom

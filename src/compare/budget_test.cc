#include "compare/budget.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

Budget parsed(std::string_view text) {
  const Result<Budget> budget = parse_budget(text);
  EXPECT_TRUE(budget.ok()) << text << ": " << (budget.ok() ? "" : budget.error().message);
  return budget.ok() ? *budget : Budget{};
}

std::string refused(std::string_view text) {
  const Result<Budget> budget = parse_budget(text);
  EXPECT_FALSE(budget.ok()) << text;
  return budget.ok() ? std::string() : budget.error().message;
}

TEST(Budget, PercentAboveBase) {
  const Budget budget = parsed("step_time+3%");
  EXPECT_EQ(budget.kind, BudgetKind::percent_of_base);
  EXPECT_EQ(budget.millionths, 3'000'000);
  EXPECT_TRUE(budget.of_time());
  EXPECT_DOUBLE_EQ(budget.limit(200), 206);
}

TEST(Budget, PercentBelowBaseAsksForAnImprovement) {
  EXPECT_DOUBLE_EQ(parsed("step_time-5%").limit(100), 95);
}

TEST(Budget, AmountsCarryTheMetricsUnits) {
  EXPECT_DOUBLE_EQ(parsed("step_time+2ms").limit(1e6), 3e6);
  EXPECT_DOUBLE_EQ(parsed("peak_memory<20GiB").limit(0), 20.0 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(parsed("launches+0").limit(7), 7);
  EXPECT_DOUBLE_EQ(parsed("launches-2").limit(7), 5);
}

TEST(Budget, OperationsOfALargeStepFit) {
  EXPECT_DOUBLE_EQ(parsed("flops<2e13").limit(0), 2e13);
  EXPECT_DOUBLE_EQ(parsed("flops<=9e18").limit(0), 9e18);
  EXPECT_DOUBLE_EQ(parsed("flops-1e17").amount(), -1e17);
  EXPECT_NE(refused("flops<1e19").find("too large"), std::string::npos);
}

TEST(Budget, EachRelation) {
  EXPECT_EQ(parsed("launches<5").kind, BudgetKind::below);
  EXPECT_EQ(parsed("launches<=5").kind, BudgetKind::at_most);
  EXPECT_EQ(parsed("launches>5").kind, BudgetKind::above);
  EXPECT_EQ(parsed("launches>=5").kind, BudgetKind::at_least);
  EXPECT_EQ(parsed("synchronizations=0").kind, BudgetKind::equal);
  EXPECT_EQ(parsed("peak_memory <= 1 GiB").amount(), 1024.0 * 1024 * 1024);
}

TEST(Budget, MistakesAreNamed) {
  EXPECT_NE(refused("launchs+0").find("did you mean 'launches'?"), std::string::npos);
  EXPECT_NE(refused("foo+0").find("there is no metric 'foo'. Metrics: "), std::string::npos);
  EXPECT_NE(refused("launches").find("METRIC+N%"), std::string::npos);
  EXPECT_NE(refused("launches+").find("a number is missing"), std::string::npos);
  EXPECT_NE(refused("launches+-1").find("a number is missing"), std::string::npos);
  EXPECT_NE(refused("step_time+3").find("%, ns, us, ms or s"), std::string::npos);
  EXPECT_NE(refused("launches+3ms").find("not a number"), std::string::npos);
  EXPECT_NE(refused("launches<1e30").find("too large"), std::string::npos);
  EXPECT_NE(refused("step_time=5ms").find("never equals"), std::string::npos);
  EXPECT_NE(refused("step_time-100%").find("nothing is left"), std::string::npos);
  EXPECT_NE(refused("launches+nan").find("not a number"), std::string::npos);
}

TEST(Budget, MetricsNameEachCounterOnce) {
  for (const BudgetMetric& metric : budget_metrics()) {
    EXPECT_FALSE(metric.title.empty());
    EXPECT_FALSE(metric.lacks.empty());
    std::size_t same = 0;
    for (const BudgetMetric& other : budget_metrics()) same += other.counter == metric.counter;
    EXPECT_EQ(same, 1U) << metric.id;
  }
}

}  // namespace
}  // namespace fathom

#include <string>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule step_outliers();

namespace {

/// Steps of these lengths on the main thread; what is above 100 ns is spent in `extra`.
void steps(TraceBuilder& builder, std::initializer_list<std::int64_t> lengths,
           std::string_view extra = "aten::svd") {
  std::int64_t at = 0;
  std::int64_t number = 0;
  for (const std::int64_t length : lengths) {
    builder.step(number++, at, length);
    builder.op("aten::mm", at, 90);
    if (length > 120) builder.op(extra, at + 100, length - 110);
    at += length;
  }
}

TEST(StepOutliers, AreToldWithWhatTookLonger) {
  TraceBuilder builder;
  steps(builder, {100, 101, 102, 300, 100, 101});
  const std::vector<Finding> findings = JudgedTrace(builder).findings(step_outliers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "outliers");
  ASSERT_EQ(findings[0].evidence.size(), 2U);
  EXPECT_NE(findings[0].evidence[0].text.find("step 3 (300 ns)"), std::string::npos);
  // 190 ns in one of six steps: what is saved is of the mean step, too.
  EXPECT_NE(findings[0].evidence[0].text.find("their excess is 33 ns (24.8 % of the step)"),
            std::string::npos)
      << findings[0].evidence[0].text;
  EXPECT_NE(findings[0].evidence[1].text.find("aten::svd takes 31 ns (23.6 % of the step) more"),
            std::string::npos)
      << findings[0].evidence[1].text;
}

TEST(StepOutliers, OfARunAreNamedThoughTheyWereOnlyTimed) {
  const auto judged = [](int which, std::int64_t long_step) {
    TraceBuilder builder;
    steps(builder, {100, 101});
    std::string all;
    std::int64_t at = 0;
    for (int i = 0; i < 100; ++i) {
      const std::int64_t length = i == which ? long_step : 100;
      all += (i == 0 ? "[[" : ",[") + std::to_string(i) + "," + std::to_string(at) + "," +
             std::to_string(at + length) + "]";
      at += length;
    }
    builder.fact("run.steps", all + "]");
    return JudgedTrace(builder);
  };
  const std::vector<Finding> findings = judged(57, 600).findings(step_outliers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "1 step of 100 timed far longer than the median of 100 ns");
  EXPECT_NE(
      findings[0].evidence[0].text.find("number 57 (600 ns); above the median they take 4.8 %"),
      std::string::npos)
      << findings[0].evidence[0].text;
  EXPECT_TRUE(findings[0].claims.empty());
  EXPECT_NE(judged(57, 100).abstains(step_outliers()), "");
  EXPECT_NE(judged(0, 600).abstains(step_outliers()), "") << "the first is long by warm-up";
}

TEST(StepOutliers, LeaveLeadingLongStepsToTheWarmUp) {
  TraceBuilder first;
  steps(first, {300, 250, 100, 101, 102, 100, 101});
  EXPECT_TRUE(JudgedTrace(first).findings(step_outliers()).empty());

  TraceBuilder both;
  steps(both, {300, 100, 101, 102, 280, 100, 101});
  const std::vector<Finding> findings = JudgedTrace(both).findings(step_outliers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "1 step of 6 far longer than the median of 101 ns");

  TraceBuilder few;
  steps(few, {300, 100, 101, 102});
  EXPECT_NE(JudgedTrace(few).abstains(step_outliers()), "") << "three steps are left";
}

TEST(StepOutliers, ClaimNoMoreThanTheirExcess) {
  TraceBuilder builder;
  steps(builder, {100, 100, 100, 300, 100, 100});
  const std::vector<Finding> findings = JudgedTrace(builder).findings(step_outliers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_LE(to_ns(total(findings[0].claims)), 200);
  EXPECT_GT(to_ns(total(findings[0].claims)), 150);
}

TEST(StepOutliers, NameTheCauseOfIdleTimeThatGrew) {
  TraceBuilder builder;
  for (int i = 0; i < 6; ++i) {
    const std::int64_t at = 1000 * i + (i > 3 ? 2000 : 0);
    const std::int64_t length = i == 3 ? 3000 : 1000;
    builder.step(i, at, length);
    builder.op("aten::item", at + 10, length - 950);
    builder.runtime("cudaLaunchKernel", at + length - 930, 10, 100 + i);
    builder.kernel("gemm", at + length - 910, 910, 100 + i);
  }
  const std::vector<Finding> findings = JudgedTrace(builder).findings(step_outliers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::host);
  EXPECT_NE(findings[0].evidence[0].text.find("dispatch"), std::string::npos);
  EXPECT_NE(findings[0].evidence[1].text.find("aten::item"), std::string::npos);
}

/// Six steps of 1000 ns with a kernel; the fourth is 2000 ns longer, at its begin.
TraceBuilder with_a_late_start() {
  TraceBuilder builder;
  for (int i = 0; i < 6; ++i) {
    const std::int64_t extra = i == 3 ? 2000 : 0;
    const std::int64_t at = 1000 * i + (i > 3 ? 2000 : 0);
    builder.step(i, at, 1000 + extra);
    builder.op("aten::mm", at + extra + 10, 40);
    builder.runtime("cudaLaunchKernel", at + extra + 30, 10, 100 + i);
    builder.kernel("gemm", at + extra + 90, 910, 100 + i);
  }
  return builder;
}

TEST(StepOutliers, LayPythonToNoOperatorThatComesAfterIt) {
  TraceBuilder builder = with_a_late_start();
  std::vector<Finding> findings = JudgedTrace(builder).findings(step_outliers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].evidence[0].text.find("python"), std::string::npos)
      << findings[0].evidence[0].text;
  EXPECT_EQ(findings[0].evidence.size(), 1U);

  TraceBuilder known = with_a_late_start();
  known.frame("train.py(8): save", 3001, 2000);
  findings = JudgedTrace(known).findings(step_outliers());
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_EQ(findings[0].evidence.size(), 2U);
  EXPECT_NE(findings[0].evidence[1].text.find("save"), std::string::npos);
  EXPECT_EQ(findings[0].fix.text.find("workers"), std::string::npos);
}

TEST(StepOutliers, OfALoaderAreMendedThere) {
  TraceBuilder builder = with_a_late_start();
  builder.annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 3001, 1990);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(step_outliers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::input);
  EXPECT_NE(findings[0].fix.text.find("more workers"), std::string::npos);
  EXPECT_NE(findings[0].fix.after.find("prefetch_factor"), std::string::npos);
}

TEST(StepOutliers, AreNoneAmongEvenSteps) {
  TraceBuilder builder;
  steps(builder, {100, 104, 102, 110, 100, 101});
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(step_outliers()).empty());
  EXPECT_EQ(judged.abstains(step_outliers()), "");
}

TEST(StepOutliers, TellStepsThatGrow) {
  TraceBuilder builder;
  steps(builder, {100, 103, 106, 109, 112, 115, 118, 121, 124, 127, 130, 133});
  const std::vector<Finding> findings = JudgedTrace(builder).findings(step_outliers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "drift");
}

TEST(StepOutliers, NeedFourSteps) {
  TraceBuilder builder;
  steps(builder, {100, 300, 100});
  EXPECT_NE(JudgedTrace(builder).abstains(step_outliers()), "");
}

TEST(StepOutliers, OfARunTellThatItsStepsGrow) {
  const auto judged = [](std::int64_t growth) {
    TraceBuilder builder;
    steps(builder, {100, 101});
    std::string all;
    std::int64_t at = 0;
    for (int i = 0; i < 30; ++i) {
      const std::int64_t length = 100 + growth * i;
      all += (i == 0 ? "[[" : ",[") + std::to_string(i) + "," + std::to_string(at) + "," +
             std::to_string(at + length) + "]";
      at += length;
    }
    builder.fact("run.steps", all + "]");
    return JudgedTrace(builder);
  };
  const std::vector<Finding> findings = judged(10).findings(step_outliers());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "timed-drift");
  EXPECT_NE(findings[0].fix.after.find("skip_first=20"), std::string::npos);
  EXPECT_NE(judged(1).abstains(step_outliers()), "");
}

}  // namespace
}  // namespace fathom

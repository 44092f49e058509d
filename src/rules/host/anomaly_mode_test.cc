#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule anomaly_mode();

namespace {

/// A step of 1 ms: ten views that make a node and take `view` ns each, and their nodes, of which
/// `checked` have their results looked through for 10 us.
TraceBuilder step_with(std::int64_t view, int checked) {
  TraceBuilder builder;
  builder.step(0, 0, 1'000'000);
  for (int i = 0; i < 10; ++i) builder.op("aten::t", 50'000 * i, view).sequence(i);
  for (int i = 0; i < 10; ++i) {
    const std::int64_t at = 500'000 + 40'000 * i;
    builder.op("autograd::engine::evaluate_function: TBackward0", at, 30'000).sequence(9 - i, 1);
    builder.op("TBackward0", at + 1'000, 2'000).sequence(9 - i, 1);
    if (i >= checked) continue;
    builder.op("aten::isnan", at + 5'000, 4'000);
    builder.op("aten::_is_any_true", at + 10'000, 4'000);
    builder.op("aten::item", at + 15'000, 2'000);
  }
  return builder;
}

TEST(AnomalyMode, IsToldByWhatAutogradLooksThrough) {
  TraceBuilder builder = step_with(42'000, 10);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(anomaly_mode());
  ASSERT_EQ(findings.size(), 1U);
  // 100 us of checks, and ten stacks of 40 us.
  EXPECT_EQ(to_ns(total(findings[0].claims)), 500'000);
  EXPECT_EQ(findings[0].title,
            "Anomaly detection of autograd is on: 500.0 µs (50.0 % of the step)");
  EXPECT_NE(findings[0].evidence[0].text.find("10 nodes"), std::string::npos);
}

TEST(AnomalyMode, ClaimsNoStackThatIsNotCollected) {
  TraceBuilder builder = step_with(1'000, 10);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(anomaly_mode());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 100'000);
}

TEST(AnomalyMode, IsNothingForChecksOfTheProgramItself) {
  TraceBuilder builder = step_with(42'000, 4);
  EXPECT_TRUE(JudgedTrace(builder).findings(anomaly_mode()).empty());
  TraceBuilder none = step_with(42'000, 0);
  none.op("aten::isnan", 950'000, 4'000);
  EXPECT_TRUE(JudgedTrace(none).findings(anomaly_mode()).empty());
}

/// p.register_hook(lambda gradient: gradient.isnan().any()) of parameters and of tensors.
TEST(AnomalyMode, IsNothingForHooksThatLookForNan) {
  for (const char* node : {"TBackward0", "torch::autograd::AccumulateGrad"}) {
    TraceBuilder builder;
    builder.step(0, 0, 1'000'000);
    for (int i = 0; i < 10; ++i) {
      const std::int64_t at = 40'000 * i;
      builder.op("autograd::engine::evaluate_function: " + std::string(node), at, 30'000)
          .sequence(9 - i, 1);
      builder.op("aten::isnan", at + 5'000, 4'000);
      builder.op("aten::any", at + 10'000, 4'000);
      builder.op("aten::item", at + 15'000, 2'000);
    }
    EXPECT_TRUE(JudgedTrace(builder).findings(anomaly_mode()).empty()) << node;
  }
}

}  // namespace
}  // namespace fathom

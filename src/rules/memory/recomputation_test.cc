#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/recorded.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule recomputation();

namespace {

/// A training step of 10 µs in which a product of `duration` ns is computed again.
void checkpointed(TraceBuilder& builder, std::int64_t duration) {
  builder.device(a100());
  builder.step(1, 0, 10'000);
  add_launch(builder, "aten::linear", 10, "gemm", 1000, 1);
  builder.on_thread(2);
  builder.op("autograd::engine::evaluate_function: CheckpointFunctionBackward", 1000, 500);
  builder.op("CheckpointFunctionBackward", 1001, 490);
  add_launch(builder, "aten::linear", 1100, "gemm", duration, 2);
  builder.op("autograd::engine::evaluate_function: AddmmBackward0", 1200, 100);
  add_launch(builder, "aten::mm", 1210, "gemm", 2000, 3);
}

TEST(RecomputationRule, IsToldWithItsPrice) {
  TraceBuilder builder;
  checkpointed(builder, 1000);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(recomputation());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("1.000 µs (10.0 % of the step)"), std::string::npos)
      << findings[0].title;
  EXPECT_TRUE(findings[0].claims.empty()) << "nobody knows whether it fits without";
  EXPECT_NE(findings[0].counter_evidence.find("profile_memory"), std::string::npos);
}

TEST(RecomputationRule, CountsOperatorsOfStepsThatTheDeviceComesToLater) {
  TraceBuilder builder;
  builder.device(a100());
  builder.runtime("cudaLaunchKernel", 10, 5, 1);  // before the first step, which so is not whole
  builder.kernel("gemm", 20, 130, 1);
  builder.step(1, 100, 1000);
  add_launch(builder, "aten::linear", 110, "gemm", 8000, 2);
  builder.step(2, 1100, 1000);
  builder.on_thread(2);
  builder.op("autograd::engine::evaluate_function: CheckpointFunctionBackward", 1200, 500);
  builder.op("CheckpointFunctionBackward", 1201, 490);
  builder.op("aten::linear", 1300, 20);
  builder.runtime("cudaLaunchKernel", 1305, 5, 3);
  builder.kernel("gemm", 9000, 1000, 3);
  const JudgedTrace judged(builder);
  ASSERT_EQ(judged.rules().steps.size(), 1U);
  ASSERT_GT(to_ns(judged.rules().steps.front()->window.begin - Time{}), 2100);
  EXPECT_TRUE(is_training(judged.rules()));
  const std::vector<Finding> findings = judged.findings(recomputation());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(findings[0].evidence[0].text.starts_with("1 operators per step are recomputed"))
      << findings[0].evidence[0].text;
}

TEST(RecomputationRule, IsASavingWhereTheDeviceHasRoom) {
  TraceBuilder builder;
  checkpointed(builder, 1000);
  builder.memory(100, 512, 1, 0, 1, 5'000'000'000, 6'000'000'000);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(recomputation());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 1000);
}

TEST(RecomputationRule, IsNoSavingWhereTheDeviceIsFull) {
  TraceBuilder builder;
  checkpointed(builder, 1000);
  builder.memory(100, 512, 1, 0, 1, 35'000'000'000, 36'000'000'000);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(recomputation());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(findings[0].claims.empty());
}

TEST(RecomputationRule, IsNothingWhereItTakesLittleOrThereIsNone) {
  TraceBuilder little;
  checkpointed(little, 50);
  EXPECT_TRUE(JudgedTrace(little).findings(recomputation()).empty());
  ProgramBuilder plain(10'000);
  plain.op("aten::linear", "gemm", 5000);
  const JudgedTrace judged(plain.trace());
  EXPECT_TRUE(judged.findings(recomputation()).empty());
  EXPECT_EQ(judged.abstains(recomputation()), "");
}

TEST(RecomputationRule, AbstainsWithoutOperators) {
  TraceBuilder builder;
  builder.step(1, 0, 10'000);
  builder.runtime("cudaLaunchKernel", 100, 10, 1);
  builder.kernel("gemm", 200, 5000, 1);
  EXPECT_NE(JudgedTrace(builder).abstains(recomputation()), "");
}

}  // namespace
}  // namespace fathom

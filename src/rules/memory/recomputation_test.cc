#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
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

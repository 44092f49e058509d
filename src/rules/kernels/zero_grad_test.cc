#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule zero_grad();

namespace {

constexpr std::string_view kZeroGrad = "Optimizer.zero_grad#SGD.zero_grad";

/// A step of 1000 ns on the CPU: zero_grad of 100 ns with `fills` of 20 ns each, then a backward
/// pass with `additions` to gradients of 10 ns each.
void step(TraceBuilder& builder, int fills, int additions) {
  builder.step(0, 0, 1000);
  builder.annotation(kZeroGrad, 0, 100);
  for (std::int64_t i = 0; i < fills; ++i) builder.op("aten::zero_", 20 * i, 20);
  builder.annotation("## backward ##", 200, 700);
  for (std::int64_t i = 0; i < additions; ++i) {
    builder.op("torch::autograd::AccumulateGrad", 300 + 20 * i, 20).sequence(i + 1, 1);
    builder.op("aten::add_", 305 + 20 * i, 10);
  }
}

TEST(ZeroGrad, IsToldWithTheAdditionsThatItCauses) {
  TraceBuilder builder;
  step(builder, 4, 4);
  const auto findings = JudgedTrace(builder).findings(zero_grad());
  ASSERT_EQ(findings.size(), 1U);
  // 80 ns of fills, nine tenths of zero_grad's other 20 ns, 40 ns of additions.
  EXPECT_EQ(total(findings[0].claims), duration_ns(80 + 18 + 40));
}

TEST(ZeroGrad, LeavesTheAdditionsOfFurtherMicroBatchesAlone) {
  TraceBuilder builder;
  step(builder, 4, 16);
  const auto findings = JudgedTrace(builder).findings(zero_grad());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 80 + 18 + 40, 16);
}

TEST(ZeroGrad, CountsWhatTheDeviceIdlesAndFills) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::mm", 0, 10).sequence(1, 1);
  builder.runtime("cudaLaunchKernel", 2, 4, 1);
  builder.kernel("gemm", 10, 90, 1);
  builder.annotation(kZeroGrad, 100, 300);
  builder.op("aten::zero_", 110, 280);
  builder.runtime("cudaLaunchKernel", 370, 10, 2);
  builder.kernel("fill", 400, 50, 2);
  builder.op("aten::mm", 410, 20);
  builder.runtime("cudaLaunchKernel", 415, 5, 3);
  builder.kernel("gemm", 450, 550, 3);
  const auto findings = JudgedTrace(builder).findings(zero_grad());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 0.9 * 300 + 50, 30);
}

TEST(ZeroGrad, KnowsItsPythonFunctionWhereNoRangeWasRecorded) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.frame("torch/nn/modules/module.py(2000): zero_grad", 0, 100);
  builder.op("aten::zero_", 10, 80);
  builder.op("aten::mm", 300, 50).sequence(1, 1);
  EXPECT_EQ(JudgedTrace(builder).findings(zero_grad()).size(), 1U);
}

TEST(ZeroGrad, IsNothingWhereGradientsAreSetToNone) {
  TraceBuilder builder;
  step(builder, 0, 4);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(zero_grad()).empty());
  EXPECT_EQ(judged.abstains(zero_grad()), "");
}

TEST(ZeroGrad, IsNothingWhenTensorsAreMadeOfZeros) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation(kZeroGrad, 0, 100);
  builder.op("aten::zeros", 10, 80);
  builder.op("aten::zero_", 20, 60);
  builder.op("aten::mm", 300, 50).sequence(1, 1);
  EXPECT_TRUE(JudgedTrace(builder).findings(zero_grad()).empty());
}

TEST(ZeroGrad, AbstainsWhereTrainingRecordedNoZeroGrad) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::zero_", 10, 80);
  builder.op("aten::mm", 300, 50).sequence(1, 1);
  EXPECT_NE(JudgedTrace(builder).abstains(zero_grad()), "");
}

}  // namespace
}  // namespace fathom

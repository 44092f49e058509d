#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule redundant_ops();

namespace {

/// A layer of 200 ns: a table of 100 ns, then its use.
void layer(TraceBuilder& builder, std::int64_t at, std::string_view length) {
  const std::string n(length);
  builder.op("aten::arange", at, 20).shapes("[[],[]]").concrete("[\"" + n + "\",\"\"]");
  builder.op("aten::sin", at + 20, 80).shapes("[[" + n + "]]");
  builder.op("aten::mul", at + 100, 40).shapes("[[8,64],[8,64]]");
  builder.op("aten::linear", at + 140, 60).shapes("[[8,64],[64,64]]");
}

TEST(RedundantOps, AreToldWhereEachLayerComputesTheSameConstant) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  for (std::int64_t i = 0; i < 5; ++i) layer(builder, 200 * i, "64");
  const auto findings = JudgedTrace(builder).findings(redundant_ops());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(400)) << "once is needed, and its use always";
}

TEST(RedundantOps, CountKernelsAndIdleTimeOfADevice) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  for (std::int64_t i = 0; i < 5; ++i) {
    const std::int64_t at = 200 * i;
    builder.op("aten::arange", at, 100).shapes("[[],[]]").concrete(R"(["64",""])");
    builder.runtime("cudaLaunchKernel", at + 10, 5, 2 * i + 1);
    builder.kernel("arange", at + 20, 60, 2 * i + 1);
    builder.op("aten::linear", at + 100, 40).shapes("[[8,64],[64,64]]");
    builder.runtime("cudaLaunchKernel", at + 110, 5, 2 * i + 2);
    builder.kernel("gemm", at + 120, 70, 2 * i + 2);
  }
  const auto findings = JudgedTrace(builder).findings(redundant_ops());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 4.0 * 100, 45);
}

TEST(RedundantOps, AreNothingWhereConstantsDiffer) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  for (std::int64_t i = 0; i < 5; ++i) layer(builder, 200 * i, std::to_string(60 + i));
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(redundant_ops()).empty());
  EXPECT_EQ(judged.abstains(redundant_ops()), "");
}

TEST(RedundantOps, AreNothingOnceAStep) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 5; ++i) {
    builder.step(i, 200 * i, 200);
    layer(builder, 200 * i, "64");
  }
  EXPECT_TRUE(JudgedTrace(builder).findings(redundant_ops()).empty());
}

TEST(RedundantOps, AreNothingForBuffersOfZeros) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  for (std::int64_t i = 0; i < 5; ++i) {
    builder.op("aten::zeros", 200 * i, 100).shapes("[[],[]]").concrete(R"(["[64]",""])");
  }
  EXPECT_TRUE(JudgedTrace(builder).findings(redundant_ops()).empty());
}

TEST(RedundantOps, AreToldForMasks) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  for (std::int64_t i = 0; i < 5; ++i) {
    builder.op("aten::ones", 200 * i, 50).shapes("[[],[]]").concrete(R"(["[64, 64]",""])");
    builder.op("aten::tril", 200 * i + 50, 50).shapes("[[64,64],[]]");
    builder.op("aten::linear", 200 * i + 100, 50).shapes("[[8,64],[64,64]]");
  }
  EXPECT_EQ(JudgedTrace(builder).findings(redundant_ops()).size(), 1U);
}

TEST(RedundantOps, AbstainWithoutShapes) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::arange", 0, 100);
  EXPECT_NE(JudgedTrace(builder).abstains(redundant_ops()), "");
}

}  // namespace
}  // namespace fathom

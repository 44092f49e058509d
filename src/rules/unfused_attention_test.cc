#include <gtest/gtest.h>

#include "rules/program_builder.h"
#include "rules/rule_fixture.h"

namespace fathom {

Rule unfused_attention();

namespace {

TEST(UnfusedAttention, IsToldWhereASoftmaxLiesBetweenBatchedProducts) {
  ProgramBuilder program(20'000);
  program.op("aten::bmm", "gemm", 1000);
  program.op("aten::mul", "elementwise", 2000);
  program.op("aten::_softmax", "softmax", 3000);
  program.op("aten::dropout", "elementwise", 1000);
  program.op("aten::bmm", "gemm", 1000);
  const JudgedTrace judged(program.trace());
  const auto findings = judged.findings(unfused_attention());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(4800)) << "four fifths of what lies between";
}

TEST(UnfusedAttention, IsNothingForASoftmaxOfItsOwn) {
  ProgramBuilder program(20'000);
  program.op("aten::bmm", "gemm", 1000);
  program.op("aten::mm", "gemm", 1000);
  program.op("aten::_softmax", "softmax", 3000);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(unfused_attention()).empty());
}

TEST(UnfusedAttention, AbstainsWithoutADevice) {
  TraceBuilder builder;
  builder.op("aten::bmm", 0, 10);
  builder.op("aten::_softmax", 10, 10);
  builder.op("aten::bmm", 20, 10);
  EXPECT_NE(JudgedTrace(builder).abstains(unfused_attention()), "");
}

}  // namespace
}  // namespace fathom

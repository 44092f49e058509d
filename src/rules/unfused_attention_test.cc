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
  EXPECT_EQ(total(findings[0].claims), duration_ns(7000))
      << "at best all that lies between, and half of the products";
}

TEST(UnfusedAttention, IsNothingForASoftmaxOfItsOwn) {
  ProgramBuilder program(20'000);
  program.op("aten::bmm", "gemm", 1000);
  program.op("aten::mm", "gemm", 1000);
  program.op("aten::_softmax", "softmax", 3000);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(unfused_attention()).empty());
}

TEST(UnfusedAttention, IsToldOfTheMainThreadWithoutADevice) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::bmm", 100, 100);
  for (int i = 0; i < 20; ++i) builder.op("aten::view", 200 + i, 1);
  builder.op("aten::_softmax", 250, 200);
  builder.op("aten::bmm", 500, 100);
  const auto findings = JudgedTrace(builder).findings(unfused_attention());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(300));
}

}  // namespace
}  // namespace fathom

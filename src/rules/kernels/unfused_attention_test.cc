#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

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
  ASSERT_EQ(findings[0].evidence.size(), 2U) << "the time of what is saved of is named";
  EXPECT_NE(findings[0].evidence[1].text.find("2.000 µs"), std::string::npos)
      << findings[0].evidence[1].text;
}

TEST(UnfusedAttention, IsFixedByACallThatComputesTheSame) {
  ProgramBuilder program(20'000);
  program.op("aten::bmm", "gemm", 1000);
  program.op("aten::add", "elementwise", 2000);
  program.op("aten::_softmax", "softmax", 3000);
  program.op("aten::native_dropout", "elementwise", 1000);
  program.op("aten::bmm", "gemm", 1000);
  const auto findings = JudgedTrace(program.trace()).findings(unfused_attention());
  ASSERT_EQ(findings.size(), 1U);
  const Fix& fix = findings[0].fix;
  EXPECT_EQ((fix.text + fix.after).find("causal"), std::string::npos) << "the mask may be any";
  EXPECT_NE(fix.after.find("attn_mask=mask"), std::string::npos);
  EXPECT_NE(fix.after.find("dropout_p"), std::string::npos);
}

TEST(UnfusedAttention, CountsTheBackwardPassWithoutItsProducts) {
  ProgramBuilder program(20'000);
  program.op("aten::bmm", "gemm", 1000);
  program.op("aten::_softmax", "softmax", 3000);
  program.op("aten::bmm", "gemm", 1000);
  program.op("aten::bmm", "gemm", 1000);
  program.op("aten::bmm", "gemm", 1000);
  program.op("aten::_softmax_backward_data", "softmax", 3000);
  program.op("aten::div", "elementwise", 2000);
  program.op("aten::bmm", "gemm", 1000);
  program.op("aten::bmm", "gemm", 1000);
  const auto findings = JudgedTrace(program.trace()).findings(unfused_attention());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(3000 + 1000 + 5000))
      << "half of two products, for the fused backward pass computes the scores again";
}

TEST(UnfusedAttention, IsNothingInTheBackwardPassOfAFusedOne) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::scaled_dot_product_attention", 10, 100);
  builder.op("aten::_softmax", 20, 20).sequence(7);
  builder.op("aten::bmm", 300, 100);
  builder.op("SoftmaxBackward0", 420, 150).sequence(7, 1);
  builder.op("aten::_softmax_backward_data", 425, 100);
  builder.op("aten::bmm", 600, 100);
  EXPECT_TRUE(JudgedTrace(builder).findings(unfused_attention()).empty());
}

TEST(UnfusedAttention, IsNothingForASoftmaxOfItsOwn) {
  ProgramBuilder program(20'000);
  program.op("aten::bmm", "gemm", 1000);
  program.op("aten::mm", "gemm", 1000);
  program.op("aten::_softmax", "softmax", 3000);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(unfused_attention()).empty());
}

TEST(UnfusedAttention, IsNothingForASoftmaxThatNoProductMultiplies) {
  const auto findings = [](std::string_view operands) {
    ProgramBuilder program(20'000);
    program.op("aten::bmm", "gemm", 1000);
    program.op("aten::_softmax", "softmax", 3000)
        .shapes("[[2,4,16,16],[],[]]")
        .types(R"(["float","Scalar",""])");
    program.op("aten::bmm", "gemm", 1000).shapes(operands).types(R"(["float","float"])");
    return JudgedTrace(program.trace()).findings(unfused_attention()).size();
  };
  EXPECT_EQ(findings("[[8,16,16],[8,16,64]]"), 1U);
  EXPECT_EQ(findings("[[8,16,64],[8,64,16]]"), 0U) << "a softmax of something else";
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

TEST(UnfusedAttention, CountsTheRandomNumbersOfDropoutWithoutADevice) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::bmm", 100, 100);
  builder.op("aten::_softmax", 250, 100);
  builder.op("aten::bernoulli_", 350, 60);
  builder.op("aten::bmm", 500, 100);
  const auto findings = JudgedTrace(builder).findings(unfused_attention());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "Unfused attention: 160 ns (16.0 % of the step) between its GEMMs");
}

}  // namespace
}  // namespace fathom

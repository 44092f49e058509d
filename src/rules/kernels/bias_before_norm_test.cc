#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule bias_before_norm();

namespace {

JudgedTrace block(std::string_view shapes) {
  ProgramBuilder program(20'000);
  program.around("aten::conv2d", 2).shapes(shapes);
  program.op("aten::cudnn_convolution", "conv", 4000);
  program.op("aten::add_", "elementwise", 500);
  program.op("aten::batch_norm", "bn_fw", 2000).shapes("[[8,64,32,32],[64]]");
  return JudgedTrace(program.trace());
}

TEST(BiasBeforeNorm, IsToldOfTheAddition) {
  const auto findings = block("[[8,3,32,32],[64,3,3,3],[64]]").findings(bias_before_norm());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(500));
}

TEST(BiasBeforeNorm, IsNothingWithoutABias) {
  EXPECT_TRUE(block("[[8,3,32,32],[64,3,3,3],[]]").findings(bias_before_norm()).empty());
}

TEST(BiasBeforeNorm, IsNothingWhereSomethingLiesBetween) {
  ProgramBuilder program(20'000);
  program.op("aten::conv2d", "conv", 4000).shapes("[[8,3,32,32],[64,3,3,3],[64]]");
  program.op("aten::relu", "elementwise", 500);
  program.op("aten::batch_norm", "bn_fw", 2000);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(bias_before_norm()).empty());
}

TEST(BiasBeforeNorm, IsToldWhereTheNormalisationCountsItsBatches) {
  ProgramBuilder program(20'000);
  program.around("aten::conv2d", 2).shapes("[[8,3,32,32],[64,3,3,3],[64]]");
  program.op("aten::cudnn_convolution", "conv", 4000);
  program.op("aten::add_", "elementwise", 500);
  program.op("aten::add_", "elementwise", 10).shapes("[[],[]]").types("[\"long int\",\"Scalar\"]");
  program.op("aten::batch_norm", "bn_fw", 2000).shapes("[[8,64,32,32],[64]]");
  const auto findings = JudgedTrace(program.trace()).findings(bias_before_norm());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(500));
}

TEST(BiasBeforeNorm, IsToldOfAConvolutionThatAutocastCallsOnceMore) {
  ProgramBuilder program(20'000);
  program.around("aten::conv1d", 3).shapes("[[8,3,32],[64,3,3],[64]]");
  program.op("aten::to", "elementwise", 100);
  program.around("aten::conv1d", 2).shapes("[[8,3,32],[64,3,3],[64]]");
  program.op("aten::cudnn_convolution", "conv", 4000);
  program.op("aten::add_", "elementwise", 500);
  program.op("aten::batch_norm", "bn_fw", 2000).shapes("[[8,64,32],[64]]");
  const auto findings = JudgedTrace(program.trace()).findings(bias_before_norm());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(500));
}

TEST(BiasBeforeNorm, KeepsTheBiasWhereLearntStatisticsAreUsed) {
  ProgramBuilder program(20'000);
  program.op("aten::conv2d", "conv", 4000).shapes("[[8,3,32,32],[64,3,3,3],[64]]");
  program.op("aten::batch_norm", "bn_fw", 2000)
      .shapes("[[8,64,32,32],[64]]")
      .concrete("[\"\",\"\",\"\",\"\",\"\",\"False\"]");
  const auto findings = JudgedTrace(program.trace()).findings(bias_before_norm());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].fix.after.find("bias=False"), std::string::npos);
  EXPECT_NE(findings[0].fix.after.find("fuse_conv_bn_eval"), std::string::npos);
}

TEST(BiasBeforeNorm, AbstainsWithoutShapes) {
  ProgramBuilder program(20'000);
  program.op("aten::conv2d", "conv", 4000);
  program.op("aten::batch_norm", "bn_fw", 2000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(bias_before_norm()), "");
}

}  // namespace
}  // namespace fathom

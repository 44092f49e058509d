#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule conv_layout();

namespace {

TEST(ConvLayout, IsToldWhereKernelsConvertLayouts) {
  ProgramBuilder program(20'000);
  program.op("aten::cudnn_convolution", "void cudnn::ops::nchwToNhwcKernel<float>(int)", 1000);
  program.op("aten::cudnn_convolution", "conv", 4000);
  const auto findings = JudgedTrace(program.trace()).findings(conv_layout());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(1000));
}

TEST(ConvLayout, IsToldOfMIOpensTransposes) {
  ProgramBuilder program(20'000);
  program.op("aten::miopen_convolution", "batched_transpose_32x64_pack_2x4_ediv_1x2_half", 1000);
  program.op("aten::miopen_convolution", "igemm_fwd", 4000);
  EXPECT_EQ(JudgedTrace(program.trace()).findings(conv_layout()).size(), 1U);
}

TEST(ConvLayout, AdvisesMIOpenOnlyWhereHipIsCalled) {
  const auto text = [](std::string_view other) {
    ProgramBuilder program(20'000);
    program.op("aten::cudnn_convolution", "void cudnn::ops::nchwToNhwcKernel<float>(int)", 1000);
    program.trace().annotation("hip_runtime", 0, 1);  // A name alone shows nothing.
    program.trace().runtime(other, 2, 1);
    return JudgedTrace(program.trace()).findings(conv_layout()).at(0).fix.text;
  };
  EXPECT_EQ(text("cudaGetDevice").find("MIOPEN"), std::string::npos);
  EXPECT_NE(text("hipGetDevice").find("MIOPEN"), std::string::npos);
}

TEST(ConvLayout, IsNothingWithoutConversions) {
  ProgramBuilder program(20'000);
  program.op("aten::cudnn_convolution", "conv", 4000);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(conv_layout()).empty());
}

TEST(ConvLayout, AbstainsWithoutADevice) {
  TraceBuilder builder;
  builder.op("aten::conv2d", 0, 10);
  EXPECT_NE(JudgedTrace(builder).abstains(conv_layout()), "");
}

}  // namespace
}  // namespace fathom

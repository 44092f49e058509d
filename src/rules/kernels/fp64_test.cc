#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule fp64();

namespace {

constexpr std::string_view kShapes = "[[64,64],[64,64]]";

std::vector<Finding> judged(std::string_view types) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", "gemm", 4000).shapes(kShapes).types(types);
  program.op("aten::mm", "gemm", 4000).shapes(kShapes).types("[\"float\",\"float\"]");
  return JudgedTrace(program.trace()).findings(fp64());
}

TEST(Fp64, IsToldWhereTensorsOfDoublesTakeTime) {
  const std::vector<Finding> findings = judged("[\"double\",\"double\"]");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::compute);
  EXPECT_EQ(total(findings[0].claims), duration_ns(2400)) << "at best, of the double product";
  EXPECT_EQ(findings[0].edits.scale.size(), 1U);
}

/// A product of 1 GFLOP that reaches 80 % of the double peak.
double left_of_a_product(const DeviceSpec& device) {
  ProgramBuilder program(100'000'000);
  program.op("aten::mm", "dgemm", 12'500'000)
      .shapes("[[1000,500],[500,1000]]")
      .types(R"(["double","double"])");
  const auto findings = JudgedTrace(program.trace(), &device).findings(fp64());
  return findings.size() == 1 ? static_cast<double>(findings[0].edits.scale[0].second) : -1;
}

TEST(Fp64, ExpectsWhatThePeaksOfBothTypesTell) {
  DeviceSpec device{.name = "round numbers", .fp64 = 1e11, .fp32 = 1e12, .bandwidth = 1e15};
  EXPECT_NEAR(left_of_a_product(device), 0.1, 1e-6);
  device.fp64_matrix = 2e11;
  EXPECT_NEAR(left_of_a_product(device), 0.5, 1e-6) << "far from its roof: nothing is known";
  device.fp64 = device.fp64_matrix = device.fp32 = 1e11;
  EXPECT_NEAR(left_of_a_product(device), 1, 1e-6) << "data-center devices: both are as fast";
}

TEST(Fp64, ExpectsMoreOfConvolutionsOnTheProcessor) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::_slow_conv2d_forward", 100, 500)
      .shapes("[[8,3,64,64],[16,3,3,3]]")
      .types(R"(["double","double"])");
  const auto findings = JudgedTrace(builder).findings(fp64());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(findings[0].edits.scale[0].second), 0.2, 1e-6);
}

TEST(Fp64, IsNothingForFloatsAndScalars) { EXPECT_TRUE(judged("[\"float\",\"Scalar\"]").empty()); }

TEST(Fp64, IsNothingForPythonNumbersWhichAreDoublesWithoutDimensions) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::mul", 100, 500).shapes("[[64,64],[]]").types("[\"float\",\"double\"]");
  EXPECT_TRUE(JudgedTrace(builder).findings(fp64()).empty());
}

TEST(Fp64, IsToldOfTheMainThreadWithoutADevice) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::mm", 100, 500).shapes(kShapes).types("[\"double\",\"double\"]");
  EXPECT_EQ(JudgedTrace(builder).findings(fp64()).size(), 1U);
}

TEST(Fp64, AbstainsWithoutTypes) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", "gemm", 4000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(fp64()).find("record_shapes"), std::string::npos);
}

TEST(Fp64, IsNothingForAllKernelsOfAFunctionWithOneArgumentOfDoubles) {
  ProgramBuilder program(10'000);
  program.op("CompiledFunction", "void add<float>(float*)", 4000)
      .shapes("[[64,64],[755000]]")
      .types("[\"float\",\"double\"]");
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(fp64()).empty());
}

}  // namespace
}  // namespace fathom

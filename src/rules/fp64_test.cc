#include <gtest/gtest.h>

#include "rules/program_builder.h"
#include "rules/rule_fixture.h"

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

}  // namespace
}  // namespace fathom

#include <gtest/gtest.h>

#include "rules/program_builder.h"
#include "rules/rule_fixture.h"

namespace fathom {

Rule fusable_elementwise();

namespace {

constexpr std::string_view kAdd = "void at::native::vectorized_elementwise_kernel<4, add>(int)";

TEST(FusableElementwise, IsAllButTheLongestOfAChain) {
  ProgramBuilder program(20'000);
  program.op("aten::add", kAdd, 1000);
  program.op("aten::mul", kAdd, 3000);
  program.op("aten::sigmoid", kAdd, 1000);
  program.op("aten::mm", "gemm", 5000);
  const JudgedTrace judged(program.trace());
  const auto findings = judged.findings(fusable_elementwise());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(2000));
}

TEST(FusableElementwise, IsNothingForPairs) {
  ProgramBuilder program(20'000);
  for (int i = 0; i < 3; ++i) {
    program.op("aten::add", kAdd, 1000);
    program.op("aten::mul", kAdd, 1000);
    program.op("aten::mm", "gemm", 1000);
  }
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(fusable_elementwise()).empty());
}

TEST(FusableElementwise, IsOfTheMainThreadsOperatorsWithoutADevice) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::mul", 100, 100);
  builder.op("aten::to", 110, 20);
  builder.op("aten::view", 210, 5);
  builder.op("aten::add", 220, 200);
  builder.op("aten::tanh", 430, 50);
  builder.op("aten::mm", 500, 300);
  builder.op("aten::mul", 810, 100);
  const auto findings = JudgedTrace(builder).findings(fusable_elementwise());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(150)) << "all but the longest of the chain";
}

TEST(FusableElementwise, AbstainsWhereTheDeviceWasNotRecorded) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.op("aten::add", 0, 50);
  builder.runtime("cudaLaunchKernel", 10, 10, 1);
  EXPECT_NE(JudgedTrace(builder).abstains(fusable_elementwise()), "");
}

}  // namespace
}  // namespace fathom

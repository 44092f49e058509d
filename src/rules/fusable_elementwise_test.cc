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

TEST(FusableElementwise, AbstainsWithoutADevice) {
  TraceBuilder builder;
  builder.op("aten::add", 0, 10);
  EXPECT_NE(JudgedTrace(builder).abstains(fusable_elementwise()), "");
}

}  // namespace
}  // namespace fathom

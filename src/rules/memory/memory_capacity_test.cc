#include <gtest/gtest.h>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule memory_capacity();

namespace {

JudgedTrace peak(std::int64_t reserved) {
  ProgramBuilder program(10'000);
  program.trace().device(a100());
  program.op("aten::mm", "gemm", 5000);
  program.trace().memory(100, 512, 1, 0, 1, reserved / 2, reserved);
  return JudgedTrace(program.trace());
}

TEST(MemoryCapacity, IsToldNearTheLimit) {
  const auto findings = peak(39'000'000'000).findings(memory_capacity());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].weight, Weight::warning);
  EXPECT_EQ(peak(41'500'000'000).findings(memory_capacity())[0].weight, Weight::critical);
}

TEST(MemoryCapacity, IsNothingFarFromIt) {
  EXPECT_TRUE(peak(20'000'000'000).findings(memory_capacity()).empty());
}

TEST(MemoryCapacity, AbstainsWithoutMemoryEvents) {
  ProgramBuilder program(10'000);
  program.trace().device(a100());
  program.op("aten::mm", "gemm", 5000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(memory_capacity()).find("profile_memory"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom

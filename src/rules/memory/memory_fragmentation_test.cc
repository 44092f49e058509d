#include <gtest/gtest.h>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule memory_fragmentation();

namespace {

JudgedTrace peaks(std::int64_t allocated, std::int64_t reserved) {
  ProgramBuilder program(10'000);
  program.trace().device(a100());
  program.op("aten::mm", "gemm", 5000);
  program.trace().memory(100, 512, 1, 0, 1, allocated, reserved);
  return JudgedTrace(program.trace());
}

TEST(MemoryFragmentation, IsToldWhereTwiceTheNeedIsReserved) {
  const auto findings = peaks(10'000'000'000, 25'000'000'000).findings(memory_fragmentation());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].weight, Weight::warning);
}

TEST(MemoryFragmentation, IsNotedFromOneAndAHalfTimesTheNeedOn) {
  const auto findings = peaks(12'000'000'000, 18'000'000'000).findings(memory_fragmentation());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].weight, Weight::note);
  EXPECT_EQ(peaks(10'000'000'000, 20'000'000'000).findings(memory_fragmentation()).at(0).weight,
            Weight::warning);
}

TEST(MemoryFragmentation, IsNothingForLittleMemoryOrTightUse) {
  EXPECT_TRUE(peaks(1'000'000, 4'000'000).findings(memory_fragmentation()).empty());
  EXPECT_TRUE(peaks(20'000'000'000, 29'000'000'000).findings(memory_fragmentation()).empty());
}

TEST(MemoryFragmentation, AbstainsWithoutMemoryEvents) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", "gemm", 5000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(memory_fragmentation()), "");
}

}  // namespace
}  // namespace fathom

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
  EXPECT_EQ(peaks(10'000'000'000, 25'000'000'000).findings(memory_fragmentation()).size(), 1U);
}

TEST(MemoryFragmentation, IsNothingForLittleMemoryOrTightUse) {
  EXPECT_TRUE(peaks(1'000'000, 4'000'000).findings(memory_fragmentation()).empty());
  EXPECT_TRUE(peaks(20'000'000'000, 25'000'000'000).findings(memory_fragmentation()).empty());
}

TEST(MemoryFragmentation, AbstainsWithoutMemoryEvents) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", "gemm", 5000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(memory_fragmentation()), "");
}

}  // namespace
}  // namespace fathom

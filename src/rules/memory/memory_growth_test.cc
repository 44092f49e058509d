#include <vector>

#include <gtest/gtest.h>

#include "rules/common/rule_fixture.h"

namespace fathom {

Rule memory_growth();

namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// Steps of 1000 ns, after which so many MiB are allocated.
JudgedTrace steps(const std::vector<std::int64_t>& levels) {
  TraceBuilder builder;
  builder.device({.id = 0, .memory_bytes = 1000 * kMiB});
  std::int64_t at = 0;
  std::int64_t number = 0;
  for (const std::int64_t level : levels) {
    builder.step(number++, at, 1000);
    add_launch(builder, "aten::mm", at + 100, "gemm", 500, number);
    builder.memory(at + 500, kMiB, 1, 0, 64 * number, level * kMiB, level * kMiB);
    at += 1000;
  }
  return JudgedTrace(builder);
}

TEST(MemoryGrowth, IsToldWhereEachStepKeepsSomething) {
  const auto findings = steps({100, 200, 210, 220, 230, 240}).findings(memory_growth());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "Allocated memory grows by 10 MiB per step");
  EXPECT_NE(findings[0].evidence[0].text.find("after 76 more steps"), std::string::npos)
      << findings[0].evidence[0].text;
}

TEST(MemoryGrowth, IsNothingWhereMemoryStaysFallsOrJumps) {
  EXPECT_TRUE(steps({100, 200, 200, 200, 200, 200}).findings(memory_growth()).empty());
  EXPECT_TRUE(steps({100, 200, 210, 220, 200, 230}).findings(memory_growth()).empty());
  EXPECT_TRUE(steps({100, 200, 202, 260, 320, 380}).findings(memory_growth()).empty());
}

TEST(MemoryGrowth, AbstainsWithFewStepsOrWithoutEvents) {
  EXPECT_NE(steps({100, 200, 210}).abstains(memory_growth()), "");
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.op("aten::mm", 10, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(memory_growth()), "");
}

}  // namespace
}  // namespace fathom

#include <gtest/gtest.h>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule cpu_governor();

namespace {

/// A program whose device computes for `busy` of 100 µs, and waits for a late launch for the rest.
JudgedTrace with_governor(std::string_view governor, std::int64_t busy) {
  TraceBuilder builder;
  builder.step(1, 0, 100'000);
  add_launch(builder, "aten::mm", 10, "gemm", busy - 1000, 1);
  builder.op("aten::add", busy + 10, 98'000 - busy);
  add_launch(builder, "aten::mm", 98'500, "gemm", 1000, 2);
  builder.fact("host.governor", "\"" + std::string(governor) + "\"");
  return JudgedTrace(builder);
}

TEST(CpuGovernor, IsToldWhereTheDeviceWaitsForTheHost) {
  const auto findings = with_governor("powersave", 50'000).findings(cpu_governor());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "The governor of the processors is powersave, not performance");
  EXPECT_TRUE(findings[0].claims.empty());
}

TEST(CpuGovernor, IsNothingWhereTheDeviceIsBusy) {
  EXPECT_TRUE(with_governor("powersave", 97'000).findings(cpu_governor()).empty());
}

TEST(CpuGovernor, IsNothingAtPerformance) {
  const JudgedTrace judged = with_governor("performance", 50'000);
  EXPECT_TRUE(judged.findings(cpu_governor()).empty());
  EXPECT_EQ(judged.abstains(cpu_governor()), "");
}

TEST(CpuGovernor, AbstainsWhereItWasNotRecorded) {
  ProgramBuilder program(20'000);
  program.op("aten::mm", "gemm", 15'000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(cpu_governor()).find("fathom run"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom

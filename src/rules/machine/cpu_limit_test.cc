#include <gtest/gtest.h>

#include "rules/common/machine_builder.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule cpu_limit();

namespace {

constexpr std::int64_t kEnd = 1'000'000'000;

/// A second of a container in which `cut` of 10 periods were cut short.
JudgedTrace container(double cut) {
  ProgramBuilder program(kEnd);
  program.op("aten::mm", "gemm", kEnd / 2);
  MachineBuilder machine(program.trace(), kEnd);
  machine.rise("cgroup.cpu_periods", 10).rise("cgroup.cpu_throttled_periods", cut);
  machine.level("cgroup.cpu_limit", 2).level("cpu.count", 64);
  return JudgedTrace(program.trace());
}

TEST(CpuLimit, IsToldWherePeriodsAreCutShort) {
  const auto findings = container(6).findings(cpu_limit());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_EQ(findings[0].fix.after, "OMP_NUM_THREADS=2 python train.py");
}

TEST(CpuLimit, IsNothingWhereTheLimitIsNotMet) {
  const JudgedTrace trace = container(0);
  EXPECT_TRUE(trace.findings(cpu_limit()).empty());
  EXPECT_EQ(trace.abstains(cpu_limit()), "");
}

TEST(CpuLimit, AbstainsWithoutTelemetryOfTheGroup) {
  ProgramBuilder program(kEnd);
  program.op("aten::mm", "gemm", kEnd / 2);
  MachineBuilder(program.trace(), kEnd).level("cpu.count", 64);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(cpu_limit()), "");
}

TEST(CpuLimit, AbstainsWithoutTelemetry) {
  ProgramBuilder program(kEnd);
  program.op("aten::mm", "gemm", kEnd / 2);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(cpu_limit()).find("fathom run"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom

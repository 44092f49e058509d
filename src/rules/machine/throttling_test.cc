#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/machine_builder.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule throttling();

namespace {

constexpr std::int64_t kEnd = 20'000;

ProgramBuilder busy_program() {
  ProgramBuilder program(kEnd);
  program.op("aten::mm", "gemm", 15'000);
  return program;
}

MachineBuilder gpu(TraceBuilder& trace, double clock) {
  MachineBuilder machine(trace, kEnd);
  machine.level("gpu.sm_clock", clock, 0).level("gpu.clock_reasons", 32, 0);
  machine.level("gpu.utilization", 95, 0);
  return machine;
}

/// A moment of the full clock before the steps.
void seen_fast(TraceBuilder& trace, double clock) {
  trace.on_thread(0, 0);
  trace.sample("gpu.sm_clock device 0", -10, clock);
}

TEST(Throttling, IsToldWhereHeatHoldsTheClockDown) {
  ProgramBuilder program = busy_program();
  seen_fast(program.trace(), 1400);
  gpu(program.trace(), 1120).level("gpu.throttle.sw_thermal", 1, 0);
  const JudgedTrace judged(program.trace());
  const std::vector<Finding> findings = judged.findings(throttling());
  ASSERT_EQ(findings.size(), 1U) << judged.abstains(throttling());
  EXPECT_EQ(findings[0].family, Family::physical);
  EXPECT_EQ(findings[0].key, "sw_thermal");
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 0.2 * 15'000, 30);
}

TEST(Throttling, IsOnlyANoteForAGpuAtItsPowerLimit) {
  ProgramBuilder program = busy_program();
  seen_fast(program.trace(), 1400);
  gpu(program.trace(), 1260).level("gpu.throttle.power_cap", 1, 0);
  const std::vector<Finding> findings = JudgedTrace(program.trace()).findings(throttling());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].weight, Weight::note);
}

TEST(Throttling, IsNothingAtTheFullClock) {
  ProgramBuilder program = busy_program();
  gpu(program.trace(), 1400).level("gpu.throttle.power_cap", 1, 0);
  const JudgedTrace judged(program.trace());
  EXPECT_TRUE(judged.findings(throttling()).empty());
  EXPECT_EQ(judged.abstains(throttling()), "");
}

TEST(Throttling, IsNothingWhereTheClockIsLowBecauseNothingRuns) {
  ProgramBuilder program = busy_program();
  seen_fast(program.trace(), 1400);
  MachineBuilder machine(program.trace(), kEnd);
  machine.level("gpu.sm_clock", 300, 0).level("gpu.clock_reasons", 1, 0);
  machine.level("gpu.utilization", 3, 0).level("gpu.throttle.idle", 1, 0);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(throttling()).empty());
}

TEST(Throttling, TakesMuchPowerForTheCauseWhereReasonsWereNotRecorded) {
  ProgramBuilder program = busy_program();
  seen_fast(program.trace(), 1400);
  MachineBuilder machine(program.trace(), kEnd);
  machine.level("gpu.sm_clock", 1190, 0).level("gpu.utilization", 95, 0);
  machine.level("gpu.power", 330, 0).level("gpu.power_limit", 400, 0);
  const std::vector<Finding> findings = JudgedTrace(program.trace()).findings(throttling());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "power");
  EXPECT_EQ(findings[0].confidence, Confidence::medium);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 0.15 * 15'000, 30);
}

TEST(Throttling, IsNothingForMuchPowerAtTheFullClock) {
  ProgramBuilder program = busy_program();
  MachineBuilder machine(program.trace(), kEnd);
  machine.level("gpu.sm_clock", 1400, 0).level("gpu.utilization", 95, 0);
  machine.level("gpu.power", 390, 0).level("gpu.power_limit", 400, 0);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(throttling()).empty());
}

TEST(Throttling, IsANoteForAHotGpuAtTheFullClock) {
  ProgramBuilder program = busy_program();
  gpu(program.trace(), 1400).level("gpu.temperature", 88, 0);
  const std::vector<Finding> findings = JudgedTrace(program.trace()).findings(throttling());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "heat");
  EXPECT_EQ(findings[0].weight, Weight::note);
  EXPECT_TRUE(findings[0].claims.empty());
  ProgramBuilder cool = busy_program();
  gpu(cool.trace(), 1400).level("gpu.temperature", 84, 0);
  EXPECT_TRUE(JudgedTrace(cool.trace()).findings(throttling()).empty());
}

TEST(Throttling, AbstainsWithoutTelemetryAndSaysHowToRecordIt) {
  ProgramBuilder program = busy_program();
  EXPECT_NE(JudgedTrace(program.trace()).abstains(throttling()).find("fathom run"),
            std::string::npos);
}

TEST(Throttling, AbstainsWhereTheDriverTellsNoReasons) {
  ProgramBuilder program = busy_program();
  MachineBuilder(program.trace(), kEnd).level("gpu.power", 300, 0);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(throttling()), "");
}

}  // namespace
}  // namespace fathom

#include <gtest/gtest.h>

#include "rules/common/machine_builder.h"

namespace fathom {

Rule neighbour();

namespace {

TEST(Neighbour, IsToldWhereAnotherProcessHoldsTheGpu) {
  const auto findings = judged_beside([](MachineBuilder& machine) {
                          machine.level("gpu.other_processes", 1, 0);
                          machine.level("gpu.memory_by_others", 4e9, 0);
                          machine.level("gpu.utilization", 99, 0);
                        }).findings(neighbour());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "gpu");
  EXPECT_TRUE(findings[0].claims.empty());
}

TEST(Neighbour, IsNothingForAProcessThatHoldsLittle) {
  const auto findings = judged_beside([](MachineBuilder& machine) {
                          machine.level("gpu.other_processes", 1, 0);
                          machine.level("gpu.memory_by_others", 1e7, 0);
                        }).findings(neighbour());
  EXPECT_TRUE(findings.empty());
}

TEST(Neighbour, IsToldWhereOthersUseTheProcessors) {
  const auto findings = judged_beside([](MachineBuilder& machine) {
                          machine.rate("others.cpu", 6).level("cpu.count", 8);
                          machine.rate("cpu.busy", 8);
                        }).findings(neighbour());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "cpu");
  EXPECT_EQ(findings[0].weight, Weight::warning);
}

TEST(Neighbour, IsNothingWhereOthersUseLittle) {
  const JudgedTrace trace = judged_beside([](MachineBuilder& machine) {
    machine.rate("others.cpu", 1.5).level("cpu.count", 64);
    machine.level("gpu.other_processes", 0, 0);
  });
  EXPECT_TRUE(trace.findings(neighbour()).empty());
  EXPECT_EQ(trace.abstains(neighbour()), "");
}

TEST(Neighbour, TakesNoMoreProcessorsThanThereAre) {
  const auto findings = judged_beside([](MachineBuilder& machine) {
                          machine.rate("others.cpu", 8.3).level("cpu.count", 8);
                        }).findings(neighbour());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "Other programs use 8 of 8 processors");
}

TEST(Neighbour, IsNotToldFromSamplesOfAMoment) {
  ProgramBuilder program(24'000'000);
  program.op("aten::mm", "gemm", 12'000'000);
  MachineBuilder machine(program.trace(), 24'000'000);
  machine.rate("others.cpu", 2.1).level("cpu.count", 2);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(neighbour()).empty());
}

TEST(Neighbour, AbstainsWithoutTelemetry) {
  const JudgedTrace trace = judged_beside([](MachineBuilder& /*machine*/) {});
  EXPECT_NE(trace.abstains(neighbour()).find("fathom run"), std::string::npos);
}

TEST(Neighbour, AdvisesProcessorsThatThereAre) {
  const auto fix = [](double count) {
    return judged_beside([count](MachineBuilder& machine) {
             machine.rate("others.cpu", count).level("cpu.count", count);
           })
        .findings(neighbour())
        .at(0)
        .fix;
  };
  EXPECT_EQ(fix(8).after, "taskset -c 0-3 python train.py");
  EXPECT_EQ(fix(2).after, "");
}

}  // namespace
}  // namespace fathom

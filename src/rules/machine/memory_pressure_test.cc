#include <gtest/gtest.h>

#include "rules/common/machine_builder.h"

namespace fathom {

Rule memory_pressure();

namespace {

TEST(MemoryPressure, IsToldWhereTasksWaitForMemory) {
  const auto findings = judged_beside([](MachineBuilder& machine) {
                          machine.rate("pressure.memory.some", 0.2);
                        }).findings(memory_pressure());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_NE(findings[0].title.find("for it during 20"), std::string::npos) << findings[0].title;
}

TEST(MemoryPressure, OfAnotherContainerAtItsLimitNobodyElseIsTold) {
  const auto with_left = [](double left) {
    return judged_beside([&](MachineBuilder& machine) {
             machine.rate("pressure.memory.some", 0.2).level("memory.total", 1e9);
             machine.level("memory.available", left);
           })
        .findings(memory_pressure())
        .size();
  };
  EXPECT_EQ(with_left(0.8e9), 0U);
  EXPECT_EQ(with_left(0.05e9), 1U);
}

TEST(MemoryPressure, IsToldWhereTheContainersOwnTasksWait) {
  const auto findings = judged_beside([](MachineBuilder& machine) {
                          machine.rate("cgroup.pressure.memory", 0.2).level("memory.total", 1e9);
                          machine.level("memory.available", 0.8e9);
                        }).findings(memory_pressure());
  EXPECT_EQ(findings.size(), 1U);
}

TEST(MemoryPressure, IsToldWhereTheMachineSwaps) {
  const auto findings = judged_beside([](MachineBuilder& machine) {
                          machine.rate("memory.swapped_in", 5e6).rate("memory.swapped_out", 5e6);
                        }).findings(memory_pressure());
  EXPECT_EQ(findings.size(), 1U);
}

TEST(MemoryPressure, IsToldForMajorFaultsOnlyWhereLittleIsLeft) {
  const auto with_left = [](double left) {
    return judged_beside([&](MachineBuilder& machine) {
             machine.rate("memory.major_faults", 50).level("memory.total", 1e9);
             machine.level("memory.available", left);
           })
        .findings(memory_pressure())
        .size();
  };
  EXPECT_EQ(with_left(0.05e9), 1U);
  EXPECT_EQ(with_left(0.5e9), 0U);
}

TEST(MemoryPressure, IsOnlyANoteForAContainerNearItsLimit) {
  const auto findings = judged_beside([](MachineBuilder& machine) {
                          machine.level("cgroup.memory", 0.97e9).level("cgroup.memory_limit", 1e9);
                          machine.rate("pressure.memory.some", 0);
                        }).findings(memory_pressure());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "limit");
  EXPECT_EQ(findings[0].weight, Weight::note);
}

TEST(MemoryPressure, IsToldWhereAProcessWasKilled) {
  const auto findings = judged_beside([](MachineBuilder& machine) {
                          machine.rise("cgroup.oom_kills", 1);
                        }).findings(memory_pressure());
  EXPECT_EQ(findings.size(), 1U);
}

TEST(MemoryPressure, IsNothingWithMemoryLeft) {
  const JudgedTrace trace = judged_beside([](MachineBuilder& machine) {
    machine.level("memory.total", 1e9).level("memory.available", 0.8e9);
    machine.rate("pressure.memory.some", 0.0001);
  });
  EXPECT_TRUE(trace.findings(memory_pressure()).empty());
  EXPECT_EQ(trace.abstains(memory_pressure()), "");
}

TEST(MemoryPressure, AbstainsWithoutTelemetry) {
  const JudgedTrace trace = judged_beside([](MachineBuilder& /*machine*/) {});
  EXPECT_NE(trace.abstains(memory_pressure()).find("fathom run"), std::string::npos);
}

}  // namespace
}  // namespace fathom

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/machine_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule io_bound_loader();

namespace {

constexpr std::int64_t kStep = 1'000'000;

/// Three steps, each with a fetch of `fetch` ns before its kernel.
void program(TraceBuilder& trace, std::int64_t fetch) {
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = kStep * i;
    trace.step(i, at, kStep);
    trace.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 1, fetch);
    trace.op("aten::mm", at + fetch + 5, 20);
    trace.runtime("cudaLaunchKernel", at + fetch + 10, 5, 100 + i);
    trace.kernel("gemm", at + fetch + 16, kStep - fetch - 16, 100 + i);
  }
}

/// `waiting` and `busy` are shares of the time; the machine has two processors.
JudgedTrace judged(std::int64_t fetch, double waiting, double busy) {
  TraceBuilder trace;
  program(trace, fetch);
  MachineBuilder machine(trace, 3 * kStep);
  machine.rate("pressure.io.some", waiting).rate("cpu.busy", 2 * busy).level("cpu.count", 2);
  machine.rate("disk.sda.busy", waiting).rate("disk.sda.read", 1e8);
  return JudgedTrace(trace);
}

TEST(IoBoundLoader, IsToldWhereTheFetchWaitsForADisk) {
  const JudgedTrace trace = judged(kStep / 2, 0.6, 0.1);
  const auto findings = trace.findings(io_bound_loader());
  ASSERT_EQ(findings.size(), 1U) << trace.abstains(io_bound_loader());
  EXPECT_EQ(findings[0].family, Family::input);
  EXPECT_NEAR(trace.rules().percent(total(findings[0].claims)), 50, 1);
  ASSERT_EQ(findings[0].evidence.size(), 2U);
  EXPECT_NE(findings[0].evidence[1].text.find("sda was busy for 60"), std::string::npos);
}

TEST(IoBoundLoader, IsNothingWhereTheProcessorsCompute) {
  EXPECT_TRUE(judged(kStep / 2, 0.6, 0.95).findings(io_bound_loader()).empty());
}

TEST(IoBoundLoader, IsNothingWhereNobodyWaitsForADisk) {
  const JudgedTrace trace = judged(kStep / 2, 0.01, 0.1);
  EXPECT_TRUE(trace.findings(io_bound_loader()).empty());
  EXPECT_EQ(trace.abstains(io_bound_loader()), "");
}

TEST(IoBoundLoader, IsNothingWhereTheFetchIsShort) {
  EXPECT_TRUE(judged(kStep / 100, 0.6, 0.1).findings(io_bound_loader()).empty());
}

TEST(IoBoundLoader, AbstainsWithoutTelemetry) {
  TraceBuilder trace;
  program(trace, kStep / 2);
  EXPECT_NE(JudgedTrace(trace).abstains(io_bound_loader()).find("fathom run"), std::string::npos);
}

}  // namespace
}  // namespace fathom

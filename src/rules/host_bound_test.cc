#include <gtest/gtest.h>

#include "rules/rule_fixture.h"

namespace fathom {

Rule host_bound();

namespace {

/// Kernels of `busy` ns, launched every 100 ns by operators of 80 ns.
void kernels(TraceBuilder& builder, int count, std::int64_t busy) {
  builder.step(0, 0, 100 * count + 100);
  for (int i = 0; i < count; ++i) {
    const std::int64_t at = 100 * i + 10;
    builder.op("aten::add", at, 80);
    builder.runtime("cudaLaunchKernel", at + 60, 10, i + 1);
    builder.kernel("add", at + 75, busy, i + 1);
  }
}

TEST(HostBound, IsToldWhenShortKernelsWaitForTheirLaunch) {
  TraceBuilder builder;
  kernels(builder, 50, 20);
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(host_bound());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::host);
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_EQ(findings[0].confidence, Confidence::high);
  EXPECT_GT(judged.rules().percent(total(findings[0].claims)), 60);
  EXPECT_TRUE(findings[0].edits.launch_once);
}

TEST(HostBound, IsNothingWhenTheDeviceIsBusy) {
  TraceBuilder builder;
  kernels(builder, 50, 98);
  EXPECT_TRUE(JudgedTrace(builder).findings(host_bound()).empty());
}

TEST(HostBound, LeavesWhatWaitingCallsOpened) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  add_launch(builder, "aten::add", 10, "add", 300, 1);
  builder.runtime("cudaDeviceSynchronize", 40, 300, 2);
  builder.op("aten::sum", 500, 150);
  add_launch(builder, "aten::add", 650, "add", 300, 3);
  EXPECT_TRUE(JudgedTrace(builder).findings(host_bound()).empty());
}

TEST(HostBound, AbstainsWithoutADevice) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(host_bound()), "");
}

}  // namespace
}  // namespace fathom

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

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

TEST(HostBound, CountsGapsWhoseLongestPartIsTheLaunch) {
  TraceBuilder builder;
  builder.step(0, 0, 5100);
  for (int i = 0; i < 50; ++i) {
    const std::int64_t at = 100 * i + 10;
    builder.op("aten::add", at, 30);
    builder.runtime("cudaLaunchKernel", at + 15, 10, i + 1);
    builder.kernel("add", at + 70, 35, i + 1);  // Ends 5 ns before the next operator's launch.
  }
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(host_bound());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_GT(judged.rules().percent(total(findings[0].claims)), 60);
}

TEST(HostBound, LeavesWhatIsIdleAfterTheLastActivity) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  add_launch(builder, "aten::add", 10, "add", 300, 1);
  builder.op("aten::view", 500, 450);
  EXPECT_TRUE(JudgedTrace(builder).findings(host_bound()).empty());
}

/// 120 operators, each called for 6 µs by Python.
std::vector<Finding> called(std::int64_t computing) {
  TraceBuilder builder;
  const std::int64_t round = 6'000 + computing;
  builder.step(0, 0, 120 * round);
  for (int i = 0; i < 120; ++i) builder.op("aten::add", i * round + 6'000, computing);
  return JudgedTrace(builder).findings(host_bound());
}

TEST(HostBound, IsToldOfShortOperatorsWithoutADevice) {
  const std::vector<Finding> findings = called(9'000);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 120 * (6'000 + 5'000), 10);
  EXPECT_EQ(findings[0].least_percent, 30);
  EXPECT_TRUE(called(60'000).empty()) << "what the operators compute is most";
}

TEST(HostBound, AbstainsWithoutADeviceAndOperators) {
  TraceBuilder empty;
  empty.step(0, 0, 1000);
  EXPECT_NE(JudgedTrace(empty).abstains(host_bound()).find("operators"), std::string::npos);
  TraceBuilder unrecorded;
  unrecorded.step(0, 0, 1000);
  unrecorded.op("aten::add", 10, 900);
  unrecorded.runtime("cudaLaunchKernel", 20, 10, 1);
  EXPECT_NE(JudgedTrace(unrecorded).abstains(host_bound()).find("kernels"), std::string::npos);
}

}  // namespace
}  // namespace fathom

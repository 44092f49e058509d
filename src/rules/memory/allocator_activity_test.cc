#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule allocator_activity();

namespace {

/// A step of 1000 ns in which the host calls `call` for 300 ns, and the device waits.
void step(TraceBuilder& builder, std::int64_t at, std::string_view call) {
  builder.step(at / 1000, at, 1000);
  builder.op("aten::empty", at + 10, 320);
  builder.runtime(call, at + 20, 300);
  builder.op("aten::mm", at + 340, 20);
  builder.runtime("cudaLaunchKernel", at + 345, 5, at + 1);
  builder.kernel("gemm", at + 352, 648, at + 1);
}

TEST(AllocatorActivity, IsToldWhereTheDeviceWaitsForIt) {
  TraceBuilder builder;
  step(builder, 0, "cudaMalloc");
  step(builder, 1000, "cudaMalloc");
  step(builder, 2000, "cudaMalloc");
  const auto findings = JudgedTrace(builder).findings(allocator_activity());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::allocation);
  EXPECT_EQ(findings[0].confidence, Confidence::high);
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 900, 30);
}

TEST(AllocatorActivity, MayBeWarmUpInTheFirstStep) {
  TraceBuilder builder;
  step(builder, 0, "hipMalloc");
  step(builder, 1000, "hipGetDevice");
  const auto findings = JudgedTrace(builder).findings(allocator_activity());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].confidence, Confidence::low);
  EXPECT_EQ(findings[0].weight, Weight::note);
}

TEST(AllocatorActivity, CountsRetries) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::empty", 10, 320);
  builder.runtime("cudaMalloc", 20, 50);
  builder.runtime("cudaFree", 80, 100);
  builder.runtime("cudaMalloc", 200, 100);
  builder.op("aten::mm", 340, 20);
  builder.runtime("cudaLaunchKernel", 345, 5, 1);
  builder.kernel("gemm", 352, 648, 1);
  builder.device(a100());
  builder.memory(300, 512, 1, 0, 0, 40'000'000'000, 40'000'000'000);
  const auto findings = JudgedTrace(builder).findings(allocator_activity());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].evidence[0].text.find("1 time freed and retried"), std::string::npos);
  EXPECT_NE(findings[0].fix.text.find("nearly full"), std::string::npos);
}

TEST(AllocatorActivity, IsNothingWithoutSuchCalls) {
  TraceBuilder builder;
  step(builder, 0, "cudaGetDevice");
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(allocator_activity()).empty());
  EXPECT_EQ(judged.abstains(allocator_activity()), "");
}

TEST(AllocatorActivity, AbstainsWithoutCallsOfTheRuntime) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.kernel("gemm", 100, 200, 1);
  EXPECT_NE(JudgedTrace(builder).abstains(allocator_activity()), "");
}

TEST(AllocatorActivity, AbstainsWithoutADevice) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(allocator_activity()), "");
}

TEST(AllocatorActivity, CountsTheMainThreadWhereTheDeviceWasNotRecorded) {
  TraceBuilder builder;
  for (std::int64_t at : {0, 1000, 2000}) {
    builder.step(at / 1000, at, 1000);
    builder.op("aten::mm", at + 10, 300);
    builder.runtime("cudaFree", at + 400, 500);
  }
  const auto findings = JudgedTrace(builder).findings(allocator_activity());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(1500));
  EXPECT_NE(findings[0].counter_evidence.find("not recorded"), std::string::npos);
}

/// A free between two allocations in one operator, while the device idles; of 42 GB of memory so
/// many are reserved.
std::vector<Finding> retried(std::int64_t reserved) {
  TraceBuilder builder;
  builder.device(a100());
  builder.step(0, 0, 100'000);
  builder.runtime("cudaLaunchKernel", 0, 10, 1);
  builder.kernel("gemm", 100, 900, 1);
  builder.op("aten::empty", 2000, 60'000);
  builder.runtime("cudaMalloc", 3000, 10'000);
  builder.runtime("cudaFree", 14'000, 10'000);
  builder.runtime("cudaMalloc", 25'000, 10'000);
  builder.runtime("cudaLaunchKernel", 90'000, 10, 2);
  builder.kernel("gemm", 90'100, 900, 2);
  builder.memory(50'000, 512, 1, 0, 0, reserved, reserved);
  return JudgedTrace(builder).findings(allocator_activity());
}

TEST(AllocatorActivity, SaysThatMemoryIsNearlyFullOnlyWhereItIs) {
  const std::vector<Finding> full = retried(40'000'000'000);
  ASSERT_EQ(full.size(), 1U);
  EXPECT_NE(full[0].fix.text.find("nearly full"), std::string::npos);
  const std::vector<Finding> empty = retried(1'400'000'000);
  ASSERT_EQ(empty.size(), 1U);
  EXPECT_EQ(empty[0].fix.text.find("nearly full"), std::string::npos);
}

TEST(AllocatorActivity, TellsOfACacheThatIsOff) {
  TraceBuilder builder;
  builder.step(0, 0, 40'000);
  for (std::int64_t i = 0; i < 40; ++i) {
    const std::int64_t at = 1000 * i;
    builder.op("aten::empty", at + 10, 320);
    builder.runtime("cudaMalloc", at + 20, 300);
    builder.runtime("cudaLaunchKernel", at + 345, 5, i + 1);
    builder.kernel("gemm", at + 352, 400, i + 1);
    builder.runtime("cudaFree", at + 600, 300);
  }
  const auto findings = JudgedTrace(builder).findings(allocator_activity());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ((findings[0].fix.text + findings[0].fix.after).find("expandable"), std::string::npos);
  EXPECT_NE(findings[0].fix.text.find("CACHING"), std::string::npos);
}

}  // namespace
}  // namespace fathom

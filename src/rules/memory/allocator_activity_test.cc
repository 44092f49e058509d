#include <gtest/gtest.h>

#include "rules/common/claims.h"
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

}  // namespace
}  // namespace fathom

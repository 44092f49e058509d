#include <gtest/gtest.h>

#include "rules/common/rule_fixture.h"

namespace fathom {

Rule activations_dominate();

namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// A training step on a device that starts with `held` MiB and allocates `more` MiB.
void step(TraceBuilder& builder, std::int64_t held, std::int64_t more) {
  builder.step(0, 0, 1000);
  builder.op("aten::mm", 10, 100);
  builder.op("autograd::engine::evaluate_function: MmBackward0", 500, 100);
  builder.runtime("cudaLaunchKernel", 20, 5, 1);
  builder.kernel("gemm", 30, 800, 1);
  builder.memory(50, more * kMiB, 1, 0, 64, (held + more) * kMiB, (held + more) * kMiB);
  builder.memory(550, -more * kMiB, 1, 0, 64, held * kMiB, (held + more) * kMiB);
}

TEST(ActivationsDominate, IsToldWhenTheStepAddsMostOfThePeak) {
  TraceBuilder builder;
  builder.device({.id = 0, .memory_bytes = 900 * kMiB});
  step(builder, 100, 300);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(activations_dominate());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::memory_capacity);
  EXPECT_EQ(findings[0].weight, Weight::note);
  EXPECT_NE(findings[0].title.find("75"), std::string::npos);
  EXPECT_NE(findings[0].fix.after.find("checkpoint"), std::string::npos);
}

TEST(ActivationsDominate, WarnsWhenTheDeviceIsNearlyFull) {
  TraceBuilder builder;
  builder.device({.id = 0, .memory_bytes = 450 * kMiB});
  step(builder, 100, 300);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(activations_dominate());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].weight, Weight::warning);
}

TEST(ActivationsDominate, IsNothingWhenParametersAreMost) {
  TraceBuilder builder;
  step(builder, 300, 100);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(activations_dominate()).empty());
  EXPECT_EQ(judged.abstains(activations_dominate()), "");
}

TEST(ActivationsDominate, AbstainsWithoutAllocatorEvents) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.op("aten::mm", 10, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(activations_dominate()), "");
}

TEST(ActivationsDominate, AbstainsWhereTheSizeOfTheMemoryIsNotKnown) {
  TraceBuilder builder;
  step(builder, 100, 300);
  EXPECT_NE(JudgedTrace(builder).abstains(activations_dominate()), "");
}

}  // namespace
}  // namespace fathom

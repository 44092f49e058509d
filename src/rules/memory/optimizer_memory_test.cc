#include <string_view>

#include <gtest/gtest.h>

#include "rules/common/rule_fixture.h"

namespace fathom {

Rule optimizer_memory();

namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// A step that starts with `held` MiB, allocates and keeps `gradients`, and at its peak `more`.
void step(TraceBuilder& builder, std::string_view optimizer, std::int64_t held,
          std::int64_t gradients, std::int64_t more) {
  builder.memory(1, 64, 1, 0, 1, held * kMiB, held * kMiB);
  builder.step(0, 10, 1000);
  builder.op("aten::mm", 20, 100);
  builder.runtime("cudaLaunchKernel", 30, 5, 1);
  builder.kernel("gemm", 40, 800, 1);
  const auto event = [&builder](std::int64_t time, std::int64_t bytes, std::int64_t address,
                                std::int64_t total) {
    builder.memory(time, bytes * kMiB, 1, 0, address, total * kMiB, total * kMiB);
  };
  event(50, more, 64, held + more);
  builder.op("autograd::engine::evaluate_function: MmBackward0", 200, 100);
  event(210, gradients, 128, held + more + gradients);
  event(250, -more, 64, held + gradients);
  builder.annotation(optimizer, 500, 100);
  event(900, -gradients, 128, held);
}

TEST(OptimizerMemory, IsToldForAdamByWhatIsHeld) {
  TraceBuilder builder;
  builder.device({.id = 0, .memory_bytes = 1000 * kMiB});
  step(builder, "Optimizer.step#AdamW.step", 300, 100, 50);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(optimizer_memory());
  ASSERT_EQ(findings.size(), 1U);
  // Of 450 MiB at the peak 100 are gradients and 200 Adam's.
  EXPECT_NE(findings[0].title.find("66.7 %"), std::string::npos) << findings[0].title;
  EXPECT_EQ(findings[0].confidence, Confidence::low);
}

TEST(OptimizerMemory, IsMeasuredWhereTheStateWasAllocatedInTheRecording) {
  TraceBuilder builder;
  builder.device({.id = 0, .memory_bytes = 1000 * kMiB});
  step(builder, "Optimizer.step#Own.step", 100, 100, 50);
  builder.memory(550, 200 * kMiB, 1, 0, 256, 400 * kMiB, 400 * kMiB);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(optimizer_memory());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].confidence, Confidence::medium);
  EXPECT_NE(findings[0].title.find("300 MiB of 400 MiB"), std::string::npos) << findings[0].title;
}

TEST(OptimizerMemory, IsNothingWhereActivationsAreMost) {
  TraceBuilder builder;
  step(builder, "Optimizer.step#AdamW.step", 300, 100, 900);
  EXPECT_TRUE(JudgedTrace(builder).findings(optimizer_memory()).empty());
  TraceBuilder plain;
  step(plain, "Optimizer.step#SGD.step", 300, 100, 50);
  const JudgedTrace judged(plain);
  EXPECT_TRUE(judged.findings(optimizer_memory()).empty());
  EXPECT_EQ(judged.abstains(optimizer_memory()), "");
}

TEST(OptimizerMemory, AbstainsWithoutAllocatorEventsAndWithoutAnOptimizersStep) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.op("aten::mm", 10, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(optimizer_memory()), "");
  TraceBuilder unnamed;
  step(unnamed, "update", 300, 100, 50);
  EXPECT_NE(JudgedTrace(unnamed).abstains(optimizer_memory()), "");
}

TEST(OptimizerMemory, AbstainsWhereTheSizeOfTheMemoryIsNotKnown) {
  TraceBuilder builder;
  step(builder, "Optimizer.step#AdamW.step", 300, 100, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(optimizer_memory()), "");
}

TEST(OptimizerMemory, IsNothingWhereMostOfTheDeviceIsFree) {
  const auto on = [](std::int64_t mib) {
    Device device;
    device.memory_bytes = mib * kMiB;
    TraceBuilder builder;
    builder.device(device);
    step(builder, "Optimizer.step#AdamW.step", 300, 100, 50);
    return JudgedTrace(builder).findings(optimizer_memory()).size();
  };
  EXPECT_EQ(on(1600), 0U) << "450 MiB are 28 %";
  EXPECT_EQ(on(1400), 1U);
}

}  // namespace
}  // namespace fathom

#include <gtest/gtest.h>

#include "rules/common/rule_fixture.h"

namespace fathom {

Rule warmup_in_window();

namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A kernel after a launching call of `length` ns that begins at `at`.
void launch(TraceBuilder& builder, std::int64_t at, std::int64_t length, std::int64_t id) {
  builder.runtime("cudaLaunchKernel", at, length, id);
  builder.kernel("gemm", at + length, kMs, id);
}

TEST(WarmupInWindow, IsToldByALongFirstStep) {
  TraceBuilder builder;
  builder.step(0, 0, 500);
  for (int i = 1; i < 5; ++i) builder.step(i, 400 + 100 * i, 100);
  builder.op("aten::mm", 10, 800);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(warmup_in_window());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "first-steps");
  EXPECT_EQ(findings[0].family, Family::capture);
  EXPECT_TRUE(findings[0].claims.empty());
}

TEST(WarmupInWindow, IsNoPrefillBeforeTokens) {
  const auto found = [](std::string_view first) {
    TraceBuilder builder;
    for (std::int64_t i = 0; i < 5; ++i) {
      const std::int64_t at = i == 0 ? 0 : 400 + 100 * i;
      builder.annotation(i == 0 ? first : "execute_context_0(0)_generation_1(1)", at,
                         i == 0 ? 500 : 100);
      builder.op("aten::mm", at + 5, i == 0 ? 400 : 80);
    }
    return JudgedTrace(builder).findings(warmup_in_window()).size();
  };
  EXPECT_EQ(found("execute_context_1(128)_generation_0(0)"), 0U);
  EXPECT_EQ(found("execute_context_0(0)_generation_1(1)"), 1U) << "a token as any other";
}

TEST(WarmupInWindow, IsNotALongFirstStepWhereLaterOnesAreAsLong) {
  const auto found = [](std::int64_t later) {
    TraceBuilder builder;
    std::int64_t at = 0;
    for (int i = 0; i < 8; ++i) {
      const std::int64_t length = i == 0 ? 500 : i == 5 ? later : 100;
      builder.step(i, at, length);
      for (std::int64_t k = 0; k < 4; ++k) builder.op("aten::mm", at + 20 * k, 15);
      at += length;
    }
    return JudgedTrace(builder).findings(warmup_in_window()).size();
  };
  EXPECT_EQ(found(100), 1U);
  EXPECT_EQ(found(200), 1U) << "far shorter than the first";
  EXPECT_EQ(found(400), 0U);
}

TEST(WarmupInWindow, IsToldByALongFirstLaunch) {
  TraceBuilder builder;
  builder.step(0, 0, 10 * kMs);
  launch(builder, 0, 5 * kMs, 1);
  launch(builder, 6 * kMs, 1000, 2);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(warmup_in_window());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "first-use");
  EXPECT_EQ(findings[0].weight, Weight::critical);
}

TEST(WarmupInWindow, NamesTheSettingOfTheDevicesOwnLibrary) {
  TraceBuilder hip;
  hip.step(0, 0, 10 * kMs);
  hip.runtime("hipLaunchKernel", 0, 5 * kMs, 1);
  hip.kernel("gemm", 5 * kMs, kMs, 1);
  const Fix fix = JudgedTrace(hip).findings(warmup_in_window()).at(0).fix;
  EXPECT_EQ(fix.text.find("CUDA"), std::string::npos) << fix.text;
  EXPECT_NE(fix.text.find("HIP_ENABLE_DEFERRED_LOADING=0"), std::string::npos);
}

TEST(WarmupInWindow, IsNoLaunchThatWaitsForRoomInTheQueue) {
  TraceBuilder builder;
  builder.step(0, 0, 10 * kMs);
  builder.runtime("cudaLaunchKernel", 0, 1000, 1);
  builder.kernel("first", 1000, 9 * kMs, 1);
  builder.runtime("cudaLaunchKernel", 2000, 5 * kMs, 2);
  builder.kernel("second", 1000 + 9 * kMs, kMs / 2, 2);
  EXPECT_TRUE(JudgedTrace(builder).findings(warmup_in_window()).empty());
}

TEST(WarmupInWindow, IsNothingAmongEvenSteps) {
  TraceBuilder builder;
  for (int i = 0; i < 4; ++i) {
    builder.step(i, 2 * kMs * i, 2 * kMs);
    launch(builder, 2 * kMs * i + 100, 1000, i + 1);
  }
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(warmup_in_window()).empty());
  EXPECT_EQ(judged.abstains(warmup_in_window()), "");
}

TEST(WarmupInWindow, AbstainsWithFewStepsAndNoDevice) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(warmup_in_window()), "");
}

TEST(WarmupInWindow, IsNotThatTheDeviceFinishesAfterTheHost) {
  // Each step takes the host 100 µs, and the kernel that it launches at its end 80 µs.
  const auto first_takes = [](std::int64_t us) {
    constexpr std::int64_t kUs = 1000;
    TraceBuilder builder;
    std::int64_t at = 0;
    for (int i = 0; i < 5; ++i) {
      const std::int64_t host = (i == 0 ? us : 100) * kUs;
      builder.step(i, at, host);
      builder.op("aten::randn", at, host - 10 * kUs);
      builder.runtime("cudaLaunchKernel", at + host - 10 * kUs, 2 * kUs, i + 1);
      builder.kernel("own", at + host - 8 * kUs, 88 * kUs, i + 1);
      at += host;
    }
    return JudgedTrace(builder).findings(warmup_in_window()).size();
  };
  EXPECT_EQ(first_takes(100), 0U);
  EXPECT_EQ(first_takes(200), 1U);
}

TEST(WarmupInWindow, SpeaksOfNoProfilerToWhoHasNone) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.op("aten::mm", 10, 80);
  EXPECT_NE(JudgedTrace(builder).abstains(warmup_in_window()).find("prof.step()"),
            std::string::npos);
  TraceBuilder run;
  run.fact("command", R"(["python","train.py"])");
  run.step(0, 0, 100);
  run.op("aten::mm", 10, 80);
  const std::string told = JudgedTrace(run).abstains(warmup_in_window());
  EXPECT_EQ(told.find("prof.step()"), std::string::npos) << told;
  EXPECT_NE(told.find("--step-by"), std::string::npos) << told;
}

}  // namespace
}  // namespace fathom

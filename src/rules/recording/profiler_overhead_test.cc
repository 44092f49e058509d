#include <gtest/gtest.h>

#include "rules/common/rule_fixture.h"

namespace fathom {

Rule profiler_overhead();

namespace {

TEST(ProfilerOverhead, IsToldWhereTheProfilerMarksIt) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  builder.op("aten::mm", 10, 1000);
  builder.slice(SliceKind::overhead, "Buffer Flush", 2000, 30'000);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiler_overhead());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].family, Family::capture);
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_EQ(findings[0].confidence, Confidence::high);
}

TEST(ProfilerOverhead, IsNotTheLoadingOfCode) {
  for (const std::string_view name :
       {"Runtime Triggered Module Loading", "Lazy Function Loading", "Command Buffer Full"}) {
    TraceBuilder builder;
    builder.step(0, 0, 100'000);
    builder.op("aten::mm", 10, 1000);
    builder.slice(SliceKind::overhead, name, 2000, 30'000);
    EXPECT_TRUE(JudgedTrace(builder).findings(profiler_overhead()).empty()) << name;
  }
}

TEST(ProfilerOverhead, IsEstimatedFromManyShortOperators) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  for (std::int64_t i = 0; i < 25; ++i) builder.op("aten::add", 4000 * i, 3000);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiler_overhead());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].weight, Weight::warning);
  EXPECT_EQ(findings[0].confidence, Confidence::low);
}

TEST(ProfilerOverhead, IsNothingWhileTheDeviceIsBusy) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  builder.runtime("cudaLaunchKernel", 1, 2, 1);
  builder.kernel("gemm", 10, 99'990, 1);
  for (std::int64_t i = 0; i < 25; ++i) builder.op("aten::add", 4000 * i + 100, 3000);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(profiler_overhead()).empty());
  EXPECT_EQ(judged.abstains(profiler_overhead()), "");
}

/// Steps of 100 µs, of which 25 operators are estimated to have cost 15 %.
void many_operators(TraceBuilder& builder, const char* ratio, const char* noise) {
  builder.step(0, 0, 100'000);
  for (std::int64_t i = 0; i < 25; ++i) builder.op("aten::add", 4000 * i, 3000);
  builder.fact("overhead.ratio", ratio).fact("overhead.noise", noise);
}

TEST(ProfilerOverhead, IsWhatTheRunMeasuredWhereItDid) {
  TraceBuilder builder;
  many_operators(builder, "2.0", "0.1");
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiler_overhead());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_EQ(findings[0].confidence, Confidence::high);
  EXPECT_NE(findings[0].title.find("50.00 µs"), std::string::npos) << findings[0].title;
}

TEST(ProfilerOverhead, IsNotEstimatedWhereTheRunMeasuredThatThereIsNone) {
  TraceBuilder builder;
  many_operators(builder, "1.02", "0.05");
  EXPECT_TRUE(JudgedTrace(builder).findings(profiler_overhead()).empty());
}

/// One operator in a step of 400 ms, where steps that were not recorded took 100 ms.
std::vector<Finding> longer_steps(const char* interval, int operators) {
  constexpr std::int64_t kMs = 1'000'000;
  TraceBuilder builder;
  builder.step(0, 0, 400 * kMs);
  for (std::int64_t i = 0; i < operators; ++i) builder.op("aten::mm", i * 4000, 3000);
  builder.fact("overhead.ratio", "4.0").fact("overhead.noise", "0.1");
  builder.fact("overhead.ratio_interval", interval);
  builder.fact("overhead.profiled_median_ns", "400000000");
  builder.fact("overhead.unprofiled_median_ns", "100000000");
  return JudgedTrace(builder).findings(profiler_overhead());
}

TEST(ProfilerOverhead, IsNotWhatABusierMachineTakes) {
  EXPECT_TRUE(longer_steps("[1.5,37]", 300).empty());
  EXPECT_EQ(longer_steps("[1.5,37]", 60'000).size(), 1U);
}

TEST(ProfilerOverhead, IsNothingWhereTheRatioMayBeOne) {
  EXPECT_TRUE(longer_steps("[0.9,37]", 60'000).empty());
}

TEST(ProfilerOverhead, AbstainsWithoutHostEvents) {
  TraceBuilder builder;
  builder.kernel("gemm", 0, 100);
  EXPECT_NE(JudgedTrace(builder).abstains(profiler_overhead()), "");
}

}  // namespace
}  // namespace fathom

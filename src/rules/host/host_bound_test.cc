#include <algorithm>
#include <utility>

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

TEST(HostBound, OfAnOptimizerIsOneCauseWithIt) {
  TraceBuilder builder;
  builder.annotation("Optimizer.step#Mine.step", 5, 5000);
  kernels(builder, 50, 20);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(host_bound());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "optimizer");
  EXPECT_EQ(findings[0].fix.before, "optimizer.step()");
  EXPECT_EQ(findings[0].fix.text.find("batch"), std::string::npos);
}

TEST(HostBound, OfVllmNamesItsOwnOptions) {
  const auto fix = [](bool graph) {
    TraceBuilder builder;
    kernels(builder, 50, 20);
    builder.op("vllm::moe_forward", 5100, 10);
    if (graph) builder.runtime("cudaGraphLaunch", 5150, 10, 777);
    return JudgedTrace(builder).findings(host_bound()).at(0).fix.after;
  };
  EXPECT_NE(fix(false).find("cudagraph_capture_sizes"), std::string::npos);
  EXPECT_NE(fix(true).find("async_scheduling"), std::string::npos);
}

TEST(HostBound, SamplesInTheGapsNameTheLine) {
  TraceBuilder builder;
  kernels(builder, 50, 20);
  Trace trace = builder.build();
  const auto host = std::ranges::find(trace.tracks, TrackKind::host_thread, &Track::kind);
  trace.stack_frames.push_back({.parent = kNoFrame,
                                .function = trace.strings.intern("forward"),
                                .file = trace.strings.intern("model.py"),
                                .line = 12});
  for (int i = 10; i < 30; ++i) {
    trace.stack_samples.push_back({.pid = host->pid,
                                   .tid = host->tid,
                                   .time = time_ns(100 * i + 50),
                                   .frame = 0,
                                   .on_cpu = duration_ns(100)});
  }
  const std::vector<Finding> findings = JudgedTrace(std::move(trace)).findings(host_bound());
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_EQ(findings[0].evidence.size(), 2U);
  EXPECT_EQ(findings[0].evidence[1].location, "model.py:12");
  EXPECT_NE(findings[0].evidence[1].text.find("by 20 samples"), std::string::npos);
}

TEST(HostBound, RecordedLinesNameTheLineThatHasMostOfTheGaps) {
  TraceBuilder builder;
  kernels(builder, 50, 20);
  // The device idles from 105 to 185 of each 100 ns: 35 of line 12, 45 of line 13.
  for (int i = 0; i < 50; ++i) {
    builder.line("/home/me/model.py:12 forward", 100 * i + 90, 50);
    builder.line("/home/me/model.py:13 forward", 100 * i + 140, 50);
  }
  const std::vector<Finding> findings = JudgedTrace(builder).findings(host_bound());
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_EQ(findings[0].evidence.size(), 2U);
  const Evidence& line = findings[0].evidence[1];
  EXPECT_EQ(line.location, "/home/me/model.py:13");
  EXPECT_TRUE(line.text.starts_with("by recorded lines, model.py:13 in forward has ")) << line.text;
  ASSERT_TRUE(line.where.has_value());
  EXPECT_EQ(to_ns(line.where->length()), 45);
}

TEST(HostBound, IsNothingWhenTheDeviceIsBusy) {
  TraceBuilder builder;
  kernels(builder, 50, 98);
  EXPECT_TRUE(JudgedTrace(builder).findings(host_bound()).empty());
}

TEST(HostBound, IsNoMatterOfLaunchesWhereFewLongKernelsAreLaunched) {
  const auto of = [](int count) {
    TraceBuilder builder;
    builder.step(0, 0, 200'000 * count);
    for (int i = 0; i < count; ++i) {
      builder.op("aten::normal_", 200'000 * i, 100'000);
      builder.runtime("cudaLaunchKernel", 200'000 * i + 110'000, 5000, i + 1);
      builder.kernel("own", 200'000 * i + 120'000, 70'000, i + 1);
    }
    return JudgedTrace(builder).findings(host_bound()).size();
  };
  EXPECT_EQ(of(4), 0U);
  EXPECT_EQ(of(6), 1U);
}

TEST(HostBound, AbstainsWhereMostIsDoneOnlyOnce) {
  const auto with_first_launch_of = [](std::int64_t us) {
    TraceBuilder builder;
    builder.runtime("cudaLaunchKernel", 0, 1000 * us, 1);
    builder.kernel("first", 1000 * us, 1000, 1);
    for (std::int64_t i = 0; i < 10; ++i) {
      const std::int64_t at = 1000 * us + 100'000 * i + 2000;
      builder.op("aten::add", at, 80'000);
      builder.runtime("cudaLaunchKernel", at + 60'000, 5000, i + 2);
      builder.kernel("add", at + 70'000, 2000, i + 2);
    }
    return JudgedTrace(builder).abstains(host_bound());
  };
  EXPECT_NE(with_first_launch_of(5000), "");
  EXPECT_EQ(with_first_launch_of(50), "");
}

/// Ten rounds: random numbers of the processor, their copy, and three kernels.
std::vector<Finding> drawn(std::string_view made, std::int64_t us, bool launches = false) {
  TraceBuilder builder;
  constexpr std::int64_t kMicrosecond = 1000;
  const std::int64_t round = (us + 200) * kMicrosecond;
  builder.step(0, 0, 10 * round);
  for (int i = 0; i < 10; ++i) {
    std::int64_t at = i * round;
    builder.op(made, at, us * kMicrosecond);
    if (launches) builder.runtime("cudaGetDevice", at + 10, 5);
    at += us * kMicrosecond;
    builder.op("aten::to", at, 60 * kMicrosecond);
    builder.runtime("cudaMemcpyAsync", at + 5 * kMicrosecond, 50 * kMicrosecond, 10 * i + 1);
    builder.copy(CopyKind::h2d, at + 6 * kMicrosecond, 50 * kMicrosecond, 10 * i + 1, 4096);
    for (int k = 0; k < 3; ++k)
      add_launch(builder, "aten::square", at + (100 + 20 * k) * kMicrosecond, "pow",
                 5 * kMicrosecond, 10 * i + k + 2);
  }
  return JudgedTrace(builder).findings(host_bound());
}

TEST(HostBound, IsNotWhatAnOperatorOfTheHostComputes) {
  const std::vector<Finding> computed = drawn("aten::randn", 1000);
  ASSERT_EQ(computed.size(), 1U);
  EXPECT_LT(to_ns(total(computed[0].claims)), 10 * 200'000);
  EXPECT_TRUE(drawn("aten::randn", 10'000).empty()) << "what is left is no 5 % of the step";
  // A short one costs its call; one that calls may launch; a range says nothing.
  for (const auto& findings :
       {drawn("aten::randn", 150), drawn("aten::randn", 1000, true), drawn("forward", 1000)}) {
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_GT(to_ns(total(findings[0].claims)), 10 * 140'000);
  }
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

/// Every other launch takes 40 ns longer than the median.
TEST(HostBound, CountsLaunchesThatTakeLongerThanTheMedian) {
  TraceBuilder builder;
  builder.step(0, 0, 10100);
  for (int i = 0; i < 51; ++i) {
    const std::int64_t at = 200 * i + 10;
    const std::int64_t delay = i % 2 == 0 ? 10 : 50;
    builder.op("aten::add", at, 30);
    builder.runtime("cudaLaunchKernel", at + 15, 10, i + 1);
    builder.kernel("add", at + 15 + delay, 20, i + 1);
  }
  const JudgedTrace judged(builder);
  const std::vector<Finding> findings = judged.findings(host_bound());
  ASSERT_EQ(findings.size(), 1U);
  // From the end of the first kernel to the begin of the last, less the 49 between them.
  EXPECT_EQ(whole(findings[0].claims), duration_ns(200 * 50 - 50 * 20));
}

TEST(HostBound, CountsGapsNotTheirParts) {
  TraceBuilder builder;
  kernels(builder, 50, 20);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(host_bound());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(findings[0].evidence.front().text.starts_with("49 gaps"))
      << findings[0].evidence[0].text;
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
  EXPECT_EQ(findings[0].least_percent, 10) << "Python takes 40 % of the step";
  EXPECT_TRUE(called(60'000).empty()) << "what the operators compute is most";
}

TEST(HostBound, OfCallsWithoutMuchPythonNeedsMoreThatNobodyElseExplains) {
  TraceBuilder builder;
  builder.step(0, 0, 120 * 12'000);
  for (int i = 0; i < 120; ++i) builder.op("aten::add", i * 12'000 + 1'000, 11'000);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(host_bound());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].least_percent, 30);
}

TEST(HostBound, NamesExportAndFreezingForInferenceOnly) {
  EXPECT_NE(called(9'000).at(0).fix.text.find("torch.jit.freeze"), std::string::npos);
  TraceBuilder training;
  training.step(0, 0, 120 * 15'000);
  for (int i = 0; i < 120; ++i)
    training.op("autograd::engine::evaluate_function: AddBackward0", i * 15'000 + 6'000, 9'000);
  const auto findings = JudgedTrace(training).findings(host_bound());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].fix.text.find("torch.jit.freeze"), std::string::npos);
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

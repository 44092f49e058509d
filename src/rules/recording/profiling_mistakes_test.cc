#include <algorithm>

#include <gtest/gtest.h>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule profiling_mistakes();

namespace {

bool has(const std::vector<Finding>& findings, std::string_view key) {
  return std::ranges::find(findings, key, &Finding::key) != findings.end();
}

/// Two steps with a batch norm, and a backward pass where it is training.
void steps(TraceBuilder& builder, std::string_view mode, bool backward) {
  const std::string concrete = "[\"\",\"\",\"\",\"\",\"\",\"" + std::string(mode) + "\"]";
  for (std::int64_t i = 0; i < 2; ++i) {
    builder.step(i, 100 * i, 100);
    builder.op("aten::batch_norm", 100 * i + 1, backward ? 45 : 95)
        .shapes("[[16,24],[24],[24],[24],[24],[]]")
        .types("[\"float\",\"float\",\"float\",\"float\",\"float\",\"Scalar\"]")
        .concrete(concrete);
    if (backward) {
      builder.op("autograd::engine::evaluate_function: NativeBatchNormBackward0", 100 * i + 50, 48);
    }
  }
}

TEST(ProfilingMistakes, TellTrainingInEvalMode) {
  TraceBuilder builder;
  steps(builder, "False", /*backward=*/true);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiling_mistakes());
  EXPECT_TRUE(has(findings, "eval-mode"));
  EXPECT_EQ(findings[0].family, Family::capture);
}

TEST(ProfilingMistakes, TellInferenceInTrainMode) {
  TraceBuilder builder;
  steps(builder, "True", /*backward=*/false);
  EXPECT_TRUE(has(JudgedTrace(builder).findings(profiling_mistakes()), "train-mode"));
}

TEST(ProfilingMistakes, AreNoneInTrainingInTrainMode) {
  TraceBuilder builder;
  steps(builder, "True", /*backward=*/true);
  EXPECT_TRUE(JudgedTrace(builder).findings(profiling_mistakes()).empty());
}

TEST(ProfilingMistakes, AreNoneInInferenceInEvalMode) {
  TraceBuilder builder;
  steps(builder, "False", /*backward=*/false);
  EXPECT_TRUE(JudgedTrace(builder).findings(profiling_mistakes()).empty());
}

TEST(ProfilingMistakes, TellARecordingWithoutSteps) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 100).shapes("[[2,2],[2,2]]");
  EXPECT_TRUE(has(JudgedTrace(builder).findings(profiling_mistakes()), "few-steps"));
}

TEST(ProfilingMistakes, GiveNoCodeOfPyTorchForEventsOfAnotherProgram) {
  const auto advice = [](SliceKind kind) {
    TraceBuilder builder;
    builder.slice(kind, "decode", 0, 900);
    const auto found = JudgedTrace(builder).findings(profiling_mistakes());
    return has(found, "few-steps") ? found.front().fix.after : std::string("none");
  };
  EXPECT_EQ(advice(SliceKind::other), "");
  EXPECT_NE(advice(SliceKind::cpu_op).find("prof.step()"), std::string::npos);
}

TEST(ProfilingMistakes, TellLaunchesWithoutKernels) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 100).shapes("[[2,2],[2,2]]");
  builder.runtime("cudaLaunchKernel", 10, 5, 1);
  EXPECT_TRUE(has(JudgedTrace(builder).findings(profiling_mistakes()), "no-kernels"));
}

TEST(ProfilingMistakes, TellWhatWasNotRecorded) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 2; ++i) {
    builder.step(i, 100 * i, 100);
    builder.op("aten::mm", 100 * i, 90);
  }
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiling_mistakes());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title, "Not recorded: shapes");
}

TEST(ProfilingMistakes, AreAModelOnTheCpuBesideAGpu) {
  TraceBuilder builder;
  builder.device(a100());
  builder.op("aten::mm", 0, 950);
  builder.runtime("cudaDeviceSynchronize", 960, 10);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiling_mistakes());
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].key, "on-cpu");
}

TEST(ProfilingMistakes, DoNotKnowWhereAModelRunsWhereTheGpuWasNotTraced) {
  TraceBuilder builder;
  builder.device(a100());
  builder.op("aten::mm", 0, 950);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiling_mistakes());
  EXPECT_FALSE(has(findings, "on-cpu"));
  EXPECT_TRUE(has(findings, "device-not-traced"));
}

TEST(ProfilingMistakes, KnowAModelOnTheCpuByItsAllocations) {
  TraceBuilder builder;
  builder.device(a100());
  builder.op("aten::mm", 0, 950);
  builder.memory(10, 4096);
  builder.memory(20, -4096);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiling_mistakes());
  ASSERT_TRUE(has(findings, "on-cpu"));
  EXPECT_FALSE(has(findings, "device-not-traced"));
  EXPECT_NE(findings[0].evidence[0].text.find("all 2 recorded allocations"), std::string::npos)
      << findings[0].evidence[0].text;
}

TEST(ProfilingMistakes, DoNotKnowWhereAModelRunsThatAllocatesOnADevice) {
  TraceBuilder builder;
  builder.device(a100());
  builder.op("aten::mm", 0, 950);
  builder.memory(10, 4096);
  builder.memory(20, 4096, 1, 0);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiling_mistakes());
  EXPECT_FALSE(has(findings, "on-cpu"));
  EXPECT_TRUE(has(findings, "device-not-traced"));
}

TEST(ProfilingMistakes, KnowAModelOnTheCpuByOperatorsOfProcessors) {
  for (const std::int64_t length : {300, 200}) {
    TraceBuilder builder;
    builder.device(a100());
    builder.op("aten::relu", 0, 1000 - length);
    builder.op("aten::mkldnn_convolution", 1000 - length, length);
    const std::vector<Finding> findings = JudgedTrace(builder).findings(profiling_mistakes());
    EXPECT_EQ(has(findings, "on-cpu"), length == 300);
    EXPECT_EQ(has(findings, "device-not-traced"), length != 300);
  }
}

TEST(ProfilingMistakes, TellADeviceThatOnlyItsOperatorsShow) {
  TraceBuilder builder;
  builder.op("aten::cudnn_convolution", 0, 950);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiling_mistakes());
  ASSERT_TRUE(has(findings, "no-device"));
  EXPECT_FALSE(has(findings, "no-kernels"));
}

TEST(ProfilingMistakes, TellADeviceThatOnlyItsMemoryShows) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 950);
  builder.memory(10, 4096, 1, 0);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiling_mistakes());
  ASSERT_TRUE(has(findings, "no-device"));
  const auto found = std::ranges::find(findings, "no-device", &Finding::key);
  EXPECT_NE(found->evidence[0].text.find("1 recorded allocation of a device's memory"),
            std::string::npos)
      << found->evidence[0].text;
}

/// Two blocks of a convolution, what comes between, and a batch norm, without arguments.
TraceBuilder blocks(std::string_view first, std::string_view second) {
  TraceBuilder builder;
  std::int64_t at = 0;
  for (const std::string_view between : {first, second}) {
    builder.op("aten::conv2d", at, 40);
    if (!between.empty()) builder.op(between, at + 41, 1);
    builder.op("aten::batch_norm", at + 43, 7);
    at += 50;
  }
  return builder;
}

TEST(ProfilingMistakes, TellTrainModeByBatchNormsThatCountWhereNoArgumentsWereRecorded) {
  TraceBuilder counting = blocks("aten::add_", "aten::add_");
  EXPECT_TRUE(has(JudgedTrace(counting).findings(profiling_mistakes()), "train-mode"));
  TraceBuilder residual = blocks("aten::add_", "");
  EXPECT_FALSE(has(JudgedTrace(residual).findings(profiling_mistakes()), "train-mode"));
  TraceBuilder evaluating = blocks("", "");
  EXPECT_FALSE(has(JudgedTrace(evaluating).findings(profiling_mistakes()), "train-mode"));
}

TEST(ProfilingMistakes, TellTrainModeByMasksOfDropout) {
  for (const bool draws : {true, false}) {
    TraceBuilder builder;
    builder.op("aten::dropout", 0, 90);
    if (draws) builder.op("aten::bernoulli_", 10, 20);
    EXPECT_EQ(has(JudgedTrace(builder).findings(profiling_mistakes()), "train-mode"), draws);
  }
}

TEST(ProfilingMistakes, SayWhichCallsChangeTheResultInTrainMode) {
  const auto fix = [](TraceBuilder builder) {
    const std::vector<Finding> findings = JudgedTrace(builder).findings(profiling_mistakes());
    const auto found = std::ranges::find(findings, "train-mode", &Finding::key);
    return found == findings.end() ? std::string() : found->fix.text;
  };
  const std::string norms = fix(blocks("aten::add_", "aten::add_"));
  EXPECT_NE(norms.find("Batch norm then takes the mean and variance of each batch"), norms.npos);
  EXPECT_EQ(norms.find("Dropout"), norms.npos) << norms;
  TraceBuilder dropping;
  dropping.op("aten::dropout", 0, 90);
  dropping.op("aten::bernoulli_", 10, 20);
  const std::string dropouts = fix(std::move(dropping));
  EXPECT_NE(dropouts.find("Dropout costs time and changes the result."), dropouts.npos);
  EXPECT_EQ(dropouts.find("Batch norm"), dropouts.npos) << dropouts;
  TraceBuilder both = blocks("aten::add_", "aten::add_");
  both.op("aten::dropout", 110, 90);
  both.op("aten::bernoulli_", 120, 20);
  const std::string all = fix(std::move(both));
  EXPECT_NE(all.find("Batch norm"), all.npos);
  EXPECT_NE(all.find("Dropout"), all.npos);
}

TEST(ProfilingMistakes, TellAUserOfFathomRunItsOwnOptions) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.op("aten::mm", 1, 98);
  builder.fact("command", R"(["python","a.py"])");
  for (const Finding& finding : JudgedTrace(builder).findings(profiling_mistakes()))
    EXPECT_EQ(finding.fix.after.find("profile("), std::string::npos) << finding.key;
}

TEST(ProfilingMistakes, TellIdleTimeThatNothingExplains) {
  TraceBuilder builder;
  builder.step(0, 0, 104'000);
  builder.op("graph", 10, 60);
  builder.runtime("cudaGraphLaunch", 20, 40, 7);
  builder.kernel("first", 60'000, 20'000, 7).graph_node(1);
  builder.kernel("second", 80'000, 20'000, 7).graph_node(2);
  for (int i = 0; i < 3; ++i)
    add_launch(builder, "aten::add", 100'100 + 1000 * i, "add", 900, 8 + i);
  const auto findings = JudgedTrace(builder).findings(profiling_mistakes());
  const auto found = std::ranges::find(findings, "unexplained", &Finding::key);
  ASSERT_NE(found, findings.end());
  EXPECT_NE(found->title.find("% of the step)"), std::string::npos) << found->title;
  EXPECT_NE(found->evidence[0].text.find("before the first recorded activity"), std::string::npos)
      << found->evidence[0].text;
  EXPECT_TRUE(found->claims.empty());
}

TEST(ProfilingMistakes, DoNotBlameTheHostForAGraphThatWaits) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  add_launch(builder, "aten::add", 10, "add", 1000, 1);
  builder.op("graph", 100, 60);
  builder.runtime("cudaGraphLaunch", 110, 40, 7);
  builder.kernel("first", 80'000, 10'000, 7).graph_node(1);
  builder.kernel("second", 90'000, 10'000, 7).graph_node(2);
  const auto findings = JudgedTrace(builder).findings(profiling_mistakes());
  const auto found = std::ranges::find(findings, "unexplained", &Finding::key);
  ASSERT_NE(found, findings.end());
  EXPECT_NE(found->evidence[0].text.find("the host launched it in time"), std::string::npos)
      << found->evidence[0].text;
}

TEST(ProfilingMistakes, AreSilentAboutIdleTimeWithACause) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  add_launch(builder, "aten::add", 10, "add", 1000, 1);
  builder.op("aten::unique", 100, 90'000);
  add_launch(builder, "aten::add", 95'000, "add", 1000, 2);
  EXPECT_FALSE(has(JudgedTrace(builder).findings(profiling_mistakes()), "unexplained"));
}

/// A step of 100 µs with a product on the processor, and a kernel of `kernel` ns on the device.
JudgedTrace beside(std::int64_t kernel) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  builder.op("aten::linear", 10, 60'000);
  builder.op("aten::addmm", 100, 59'000);
  add_launch(builder, "aten::add", 70'000, "add", kernel, 1);
  add_launch(builder, "aten::add", 99'000, "add", 100, 2);
  return JudgedTrace(builder);
}

TEST(ProfilingMistakes, TellAModelOnTheProcessorBesideADeviceThatDoesNextToNothing) {
  const auto findings = beside(100).findings(profiling_mistakes());
  const auto found = std::ranges::find(findings, "on-cpu", &Finding::key);
  ASSERT_NE(found, findings.end());
  EXPECT_NE(found->evidence[0].text.find("59.00 µs (59.0 % of the step)"), std::string::npos)
      << found->evidence[0].text;
  EXPECT_FALSE(has(beside(20'000).findings(profiling_mistakes()), "on-cpu"));
}

}  // namespace
}  // namespace fathom

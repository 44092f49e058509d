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
  EXPECT_EQ(findings[0].title, "Not recorded: record_shapes=True");
}

TEST(ProfilingMistakes, AreAModelOnTheCpuBesideAGpu) {
  TraceBuilder builder;
  builder.device(a100());
  builder.op("aten::mm", 0, 950);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(profiling_mistakes());
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].key, "on-cpu");
}

TEST(ProfilingMistakes, TellAUserOfFathomRunItsOwnOptions) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  builder.op("aten::mm", 1, 98);
  builder.fact("command", R"(["python","a.py"])");
  for (const Finding& finding : JudgedTrace(builder).findings(profiling_mistakes()))
    EXPECT_EQ(finding.fix.after.find("profile("), std::string::npos) << finding.key;
}

}  // namespace
}  // namespace fathom

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule dominant_phase();

namespace {

JudgedTrace training(std::int64_t forward, std::int64_t backward, std::int64_t optimizer) {
  ProgramBuilder program(10'000);
  program.trace().annotation("forward", program.now(), 10);
  program.op("aten::mm", "gemm", forward);
  program.trace().annotation("backward", program.now(), 10);
  program.op("aten::mm", "gemm", backward);
  program.trace().annotation("Optimizer.step#SGD.step", program.now(), 10);
  program.op("aten::add_", "elementwise", optimizer);
  return JudgedTrace(program.trace());
}

TEST(DominantPhase, IsToldOfALongForwardPass) {
  const auto findings = training(4000, 2000, 100).findings(dominant_phase());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("forward"), std::string::npos);
}

TEST(DominantPhase, IsToldOfALongBackwardPass) {
  EXPECT_EQ(training(1000, 6000, 100).findings(dominant_phase()).size(), 1U);
}

TEST(DominantPhase, IsToldOfALongOptimizer) {
  EXPECT_EQ(training(1500, 3000, 4000).findings(dominant_phase()).size(), 1U);
}

TEST(DominantPhase, OfTheOptimizerHasTheCauseOfSlowUpdates) {
  const auto optimizer = training(1500, 3000, 4000).findings(dominant_phase());
  ASSERT_EQ(optimizer.size(), 1U);
  EXPECT_EQ(optimizer[0].cause, "optimizer");
  EXPECT_EQ(training(4000, 2000, 100).findings(dominant_phase())[0].cause, "");
}

TEST(DominantPhase, IsNothingForTheUsualShares) {
  EXPECT_TRUE(training(2000, 4000, 500).findings(dominant_phase()).empty());
}

/// The same without a device.
std::size_t on_the_host(std::int64_t forward, std::string_view node, std::int64_t backward) {
  TraceBuilder builder;
  builder.step(0, 0, forward + backward);
  builder.op("aten::mm", 0, forward).sequence(1);
  builder.op("autograd::engine::evaluate_function: " + std::string(node), forward, backward);
  return JudgedTrace(builder).findings(dominant_phase()).size();
}

TEST(DominantPhase, WithoutADeviceOnlyAMuchLongerForwardPassCounts) {
  EXPECT_EQ(on_the_host(6200, "MmBackward0", 5000), 0U);
  EXPECT_EQ(on_the_host(9000, "MmBackward0", 5000), 1U);
}

TEST(DominantPhase, SecondDerivativesAreTheModels) {
  EXPECT_EQ(on_the_host(1000, "MmBackward0", 9000), 1U);
  EXPECT_EQ(on_the_host(1000, "TanhBackwardBackward0", 9000), 0U);
}

TEST(DominantPhase, AbstainsWhereMostIsDoneOnlyOnce) {
  TraceBuilder builder;
  builder.step(0, 0, 10'000);
  builder.op("aten::mm", 0, 1000).sequence(1);
  builder.op("autograd::engine::evaluate_function: CompiledFunctionBackward", 1000, 9000);
  builder.op("compile_file (dynamo_timed)", 1100, 8000);
  EXPECT_NE(JudgedTrace(builder).abstains(dominant_phase()).find("only once"), std::string::npos);
}

TEST(DominantPhase, NamesARangeBeforeTheForwardPass) {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = 10'000 * step;
    builder.step(step, at, 10'000);
    builder.annotation("augment", at, 6200);
    builder.op("aten::mul", at + 100, 6000).sequence(1 + step);
    builder.op("aten::mm", at + 6300, 1000).sequence(1 + step);
    builder.op("autograd::engine::evaluate_function: MmBackward0", at + 7400, 2000)
        .sequence(1 + step, 1);
  }
  const auto findings = JudgedTrace(builder).findings(dominant_phase());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "augment");
  EXPECT_NE(findings[0].title.find("(62.0 % of the step), before the forward pass"),
            std::string::npos)
      << findings[0].title;
  EXPECT_TRUE(findings[0].claims.empty());
}

TEST(DominantPhase, AbstainsWithoutABackwardPass) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", "gemm", 5000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(dominant_phase()), "");
}

/// Two steps of 10 us: a pass forward and back, and `metric` ns of comparisons behind it.
std::vector<Finding> with_metric(std::int64_t metric) {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = 10'000 * step;
    builder.step(step, at, 10'000);
    builder.op("aten::mm", at, 1000).sequence(1 + step);
    builder.op("autograd::engine::evaluate_function: MmBackward0", at + 1100, 2000)
        .sequence(1 + step, 1);
    builder.annotation("Optimizer.step#SGD.step", at + 3200, 300);
    builder.op("aten::add_", at + 3210, 200);
    builder.op("aten::eq", at + 4000, metric).sequence(2 + step);
  }
  return JudgedTrace(builder).findings(dominant_phase());
}

TEST(DominantPhase, NamesOperatorsInNoPass) {
  const auto findings = with_metric(5000);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "outside");
  EXPECT_NE(findings[0].title.find("(50.0 % of the step)"), std::string::npos) << findings[0].title;
  EXPECT_NE(findings[0].evidence[0].text.find("aten::eq 5.000 µs"), std::string::npos)
      << findings[0].evidence[0].text;
  EXPECT_TRUE(findings[0].claims.empty());
  EXPECT_TRUE(with_metric(2000).empty());
}

}  // namespace
}  // namespace fathom

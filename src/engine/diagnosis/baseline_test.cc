#include "engine/diagnosis/baseline.h"

#include <gtest/gtest.h>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {
namespace {

constexpr std::string_view kTwoTensors = R"(["float","float"])";

Baseline baseline_of(TraceBuilder& trace) {
  const JudgedTrace judged(trace);
  return compute_baseline(judged.rules());
}

std::optional<Batch> batch_of(TraceBuilder& trace) {
  const JudgedTrace judged(trace);
  return find_batch(judged.rules());
}

TEST(Batch, IsThatOfTheFirstConvolution) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.op("aten::conv2d", 100, 10).shapes("[[32,3,224,224],[64,3,7,7]]").types(kTwoTensors);
  trace.op("aten::conv2d", 200, 10).shapes("[[32,64,56,56],[64,64,3,3]]").types(kTwoTensors);
  trace.op("aten::conv2d", 300, 10).shapes("[[32,64,56,56],[64,64,3,3]]").types(kTwoTensors);
  const std::optional<Batch> batch = batch_of(trace);
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->samples, 32);
  EXPECT_FALSE(batch->tokens.has_value());
  EXPECT_EQ(batch->source, "aten::conv2d");
}

TEST(Batch, OfAnEmbeddingHasTokens) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.op("aten::embedding", 100, 10).shapes("[[512,64],[1,128]]").types(kTwoTensors);
  trace.op("aten::embedding", 200, 10).shapes("[[30522,64],[8,128]]").types(kTwoTensors);
  const std::optional<Batch> batch = batch_of(trace);
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->samples, 8);
  EXPECT_EQ(batch->tokens, 1024);
}

TEST(Batch, IsNoneOfPairsOfTokens) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.op("aten::embedding", 100, 10).shapes("[[32128,64],[1,512]]").types(kTwoTensors);
  trace.op("aten::embedding", 200, 10).shapes("[[32,64],[512,512]]").types(kTwoTensors);
  const std::optional<Batch> batch = batch_of(trace);
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->samples, 1);
  EXPECT_EQ(batch->tokens, 512);
}

TEST(Batch, IsThatOfStepsThatTheDeviceComesToLater) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.op("aten::conv2d", 100, 50).shapes("[[32,3,224,224],[64,3,7,7]]").types(kTwoTensors);
  trace.runtime("cudaLaunchKernel", 110, 5, 1);
  trace.kernel("conv", 120, 5000, 1);
  trace.step(2, 1000, 1000);
  trace.op("aten::conv2d", 1100, 50).shapes("[[32,3,224,224],[64,3,7,7]]").types(kTwoTensors);
  trace.runtime("cudaLaunchKernel", 1110, 5, 2);
  trace.kernel("conv", 5120, 5000, 2);
  const std::optional<Batch> batch = batch_of(trace);
  ASSERT_TRUE(batch.has_value()) << "both calls are before the second step's window";
  EXPECT_EQ(batch->samples, 32);
}

TEST(Batch, CountsThePassesOfAccumulatedGradientsByTheirLosses) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  for (const std::int64_t at : {100, 300}) {
    trace.op("aten::conv2d", at, 10).shapes("[[16,3,32,32],[64,3,3,3]]").types(kTwoTensors);
    trace.op("aten::cross_entropy_loss", at + 50, 10);
  }
  const std::optional<Batch> batch = batch_of(trace);
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->samples, 32);
}

TEST(Batch, IsNotKnownWhereNothingShowsHowOftenTheModelRuns) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  for (const std::int64_t at : {100, 300})
    trace.op("aten::linear", at, 10).shapes("[[16,32],[32,32]]").types(kTwoTensors);
  EXPECT_FALSE(batch_of(trace).has_value());
}

TEST(Batch, IsNotKnownWithoutShapes) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.op("aten::conv2d", 100, 10);
  EXPECT_FALSE(batch_of(trace).has_value());
}

TEST(Baseline, NamesTheFiveCostliestOperatorsOfTheProcessor) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  std::int64_t at = 0;
  for (const std::int64_t time : {10, 20, 30, 40, 50, 100}) {
    trace.op("aten::op" + std::to_string(time), at, time);
    at += time;
  }
  const Baseline baseline = baseline_of(trace);
  EXPECT_FALSE(baseline.operators_on_device);
  ASSERT_EQ(baseline.operators.size(), 5U);
  EXPECT_EQ(baseline.operators.front().name, "aten::op100");
  EXPECT_EQ(baseline.operators.front().self, duration_ns(100));
  EXPECT_EQ(baseline.operators.back().name, "aten::op20");
  EXPECT_DOUBLE_EQ(baseline.operators.front().percent, 40) << "the step's mark is no operator";
}

TEST(Baseline, CountsNoRangeThatWasRecordedAsAnOperator) {
  TraceBuilder trace;
  trace.op("model_inference", 0, 1000);
  trace.op("aten::mm", 100, 300).sequence(1);
  const Baseline baseline = baseline_of(trace);
  ASSERT_EQ(baseline.operators.size(), 1U);
  EXPECT_EQ(baseline.operators.front().name, "aten::mm");
  EXPECT_DOUBLE_EQ(baseline.operators.front().percent, 100);
}

TEST(Baseline, NamesOperatorsByTheirTimeOnTheDevice) {
  ProgramBuilder program(10'000);
  program.op("aten::add", "vectorized_elementwise_kernel", 1000);
  program.op("aten::mm", "gemm", 3000);
  const Baseline baseline = baseline_of(program.trace());
  EXPECT_TRUE(baseline.operators_on_device);
  ASSERT_EQ(baseline.operators.size(), 2U);
  EXPECT_EQ(baseline.operators.front().name, "aten::mm");
  EXPECT_DOUBLE_EQ(baseline.operators.front().percent, 75);
}

TEST(Baseline, NamesKernelsThatNoOperatorLaunched) {
  ProgramBuilder program(10'000);
  program.op("aten::add", "vectorized_elementwise_kernel", 1000);
  program.trace().annotation("mlp", 5000, 100);
  program.trace().runtime("cudaLaunchKernel", 5010, 10, 77);
  program.trace().kernel("own_gemm", 6000, 3000, 77);
  const Baseline baseline = baseline_of(program.trace());
  ASSERT_EQ(baseline.operators.size(), 2U);
  EXPECT_EQ(baseline.operators.front().name, "own_gemm");
  EXPECT_DOUBLE_EQ(baseline.operators.front().percent, 75);
}

TEST(Baseline, HasThePeakOfTheDevicesMemory) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", "gemm", 3000);
  program.trace().device(a100());
  program.trace().memory(100, 1000, 1, 0, 1, 7'000'000, 9'000'000);
  program.trace().memory(200, -1000, 1, 0, 1, 6'000'000, 9'000'000);
  const Baseline baseline = baseline_of(program.trace());
  EXPECT_EQ(baseline.peak_allocated, 7'000'000);
  EXPECT_EQ(baseline.peak_reserved, 9'000'000);
  EXPECT_EQ(baseline.memory_bytes, 42'000'000'000);
}

/// Steps of these lengths on the processor.
Baseline of_steps(const std::vector<std::int64_t>& lengths) {
  TraceBuilder trace;
  std::int64_t at = 0;
  std::int64_t number = 0;
  for (const std::int64_t length : lengths) {
    trace.step(++number, at, length);
    trace.op("aten::mm", at, length);
    at += length;
  }
  return baseline_of(trace);
}

TEST(Baseline, ShowsStepsThatGrowLonger) {
  const Baseline baseline = of_steps({100, 100, 105, 105, 110, 110});
  ASSERT_TRUE(baseline.drift_percent.has_value());
  EXPECT_NEAR(*baseline.drift_percent, 10, 1e-9);
  EXPECT_EQ(baseline.first_quartile, duration_ns(101));
  EXPECT_FALSE(of_steps({100, 110, 120}).drift_percent.has_value());
}

std::optional<double> busy_of(TraceBuilder& trace) {
  const JudgedTrace judged(trace);
  return busy_percent(judged.rules());
}

TEST(Utilisation, IsThatOfTheAccounting) {
  ProgramBuilder program(10'000);
  program.op("aten::mm", "gemm", 4300);
  const std::optional<double> busy = busy_of(program.trace());
  ASSERT_TRUE(busy.has_value());
  EXPECT_NEAR(*busy, 43.0, 0.001);
  TraceBuilder host;
  host.step(1, 0, 1000);
  host.op("aten::mm", 100, 500);
  EXPECT_FALSE(busy_of(host).has_value());
}

TEST(Utilisation, SaysWhatItMeansWhereItIsLow) {
  const std::string low = utilisation_sentence(43.0);
  EXPECT_NE(low.find("busy for 43.0 % of the step, less than half"), std::string::npos) << low;
  EXPECT_NE(low.find("not that the device is full"), std::string::npos);
  const std::string moderate = utilisation_sentence(60.0);
  EXPECT_NE(moderate, "");
  EXPECT_EQ(moderate.find("half"), std::string::npos) << moderate;
  EXPECT_EQ(utilisation_sentence(80.0), "");
  EXPECT_EQ(utilisation_sentence({}), "");
}

}  // namespace
}  // namespace fathom

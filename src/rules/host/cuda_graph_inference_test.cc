#include <gtest/gtest.h>

#include "rules/common/rule_fixture.h"

namespace fathom {

Rule cuda_graph_inference();

namespace {

constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kCount = 40;

/// A pass of 40 kernels of `kernel` µs, launched every 20 µs by one operator each.
void pass(TraceBuilder& builder, std::int64_t kernel, std::string_view op = "aten::linear") {
  builder.step(0, 0, kCount * 20 * kUs);
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::int64_t at = i * 20 * kUs;
    builder.op(op, at, 18 * kUs);
    builder.runtime("cudaLaunchKernel", at + 10 * kUs, 5 * kUs, i + 1);
    builder.kernel("gemv", at + 16 * kUs, kernel * kUs, i + 1);
  }
}

TEST(CudaGraphInference, IsToldForShortKernelsLaunchedOneByOne) {
  TraceBuilder builder;
  pass(builder, 4);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(cuda_graph_inference());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(findings[0].edits.launch_once);
  EXPECT_EQ(findings[0].family, Family::host);
  EXPECT_NE(findings[0].fix.after.find("reduce-overhead"), std::string::npos);
}

TEST(CudaGraphInference, NamesExportAndFreezingWhereTheModelIsThePrograms) {
  TraceBuilder builder;
  pass(builder, 4);
  const std::string text = JudgedTrace(builder).findings(cuda_graph_inference()).at(0).fix.text;
  EXPECT_NE(text.find("torch.export"), std::string::npos);
  EXPECT_NE(text.find("torch.jit.freeze"), std::string::npos);
  TraceBuilder served;
  pass(served, 4);
  served.annotation("vllm::forward", 1, 2);
  const Fix fix = JudgedTrace(served).findings(cuda_graph_inference()).at(0).fix;
  EXPECT_EQ(fix.text.find("torch.jit.freeze"), std::string::npos);
  EXPECT_EQ(fix.before, "LLM(model, enforce_eager=True)");
  TraceBuilder generated;
  pass(generated, 4);
  generated.annotation("vllm::forward", 1, 2);
  generated.annotation("## Call CompiledFxGraph f ##", 4, 2);
  const Fix compiled = JudgedTrace(generated).findings(cuda_graph_inference()).at(0).fix;
  EXPECT_EQ(compiled.before, "LLM(model)");
  EXPECT_NE(compiled.after.find("cudagraph_capture_sizes"), std::string::npos);
}

TEST(CudaGraphInference, IsNothingWhileTheDeviceIsBusy) {
  TraceBuilder builder;
  pass(builder, 20);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(cuda_graph_inference()).empty());
  EXPECT_EQ(judged.abstains(cuda_graph_inference()), "");
}

TEST(CudaGraphInference, IsNotForTraining) {
  TraceBuilder builder;
  pass(builder, 4, "autograd::engine::evaluate_function: AddmmBackward0");
  EXPECT_TRUE(JudgedTrace(builder).findings(cuda_graph_inference()).empty());
}

TEST(CudaGraphInference, IsAForwardPassWhereAutogradRecords) {
  TraceBuilder builder;
  pass(builder, 4);
  builder.op("aten::relu", 1, 2).sequence(7);
  builder.op("aten::relu", 5, 2).sequence(8);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(cuda_graph_inference());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title.find("Inference"), std::string::npos);
  EXPECT_EQ(findings[0].confidence, Confidence::medium);
}

TEST(CudaGraphInference, AbstainsWithoutADevice) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 100);
  EXPECT_NE(JudgedTrace(builder).abstains(cuda_graph_inference()), "");
}

}  // namespace
}  // namespace fathom

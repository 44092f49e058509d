#include <string_view>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule norm_folding();

namespace {

constexpr std::string_view kTypes =
    R"(["float","float","float","float","float","Scalar","Scalar","Scalar","Scalar"])";
constexpr std::string_view kShapes = "[[2,4,3,3],[4],[4],[4],[4],[],[],[],[]]";
constexpr std::string_view kEval = R"(["","","","","","False","0.1","1e-05","True"])";
constexpr std::string_view kTrain = R"(["","","","","","True","0.1","1e-05","True"])";

void layers(ProgramBuilder& program, std::int64_t duration, std::string_view values) {
  program.op("aten::conv2d", "conv_kernel", 5000);
  TraceBuilder::Event norm = program.op("aten::batch_norm", "bn_fw_inf", duration);
  norm.shapes(kShapes).types(kTypes);
  if (!values.empty()) norm.concrete(values);
}

TEST(NormFolding, IsToldForInference) {
  ProgramBuilder program(10'000);
  layers(program, 1000, kEval);
  const std::vector<Finding> findings = JudgedTrace(program.trace()).findings(norm_folding());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 1000);
}

TEST(NormFolding, SeesTheConvolutionThatCallsAnother) {
  TraceBuilder builder;
  builder.step(1, 0, 10'000);
  builder.op("aten::conv2d", 10, 100);
  add_launch(builder, "aten::conv2d", 20, "conv_kernel", 5000, 1);
  builder.op("aten::batch_norm", 120, 20).shapes(kShapes).types(kTypes).concrete(kEval);
  builder.runtime("cudaLaunchKernel", 125, 5, 2);
  builder.kernel("bn_fw_inf", 6000, 1000, 2);
  EXPECT_EQ(JudgedTrace(builder).findings(norm_folding()).size(), 1U);
}

TEST(NormFolding, IsNothingInTraining) {
  ProgramBuilder with_backward(10'000);
  layers(with_backward, 1000, kEval);
  with_backward.op("autograd::engine::evaluate_function: ConvolutionBackward0", "dgrad", 1000);
  EXPECT_TRUE(JudgedTrace(with_backward.trace()).findings(norm_folding()).empty());
  ProgramBuilder train(10'000);
  layers(train, 1000, kTrain);
  const JudgedTrace judged(train.trace());
  EXPECT_TRUE(judged.findings(norm_folding()).empty());
  EXPECT_EQ(judged.abstains(norm_folding()), "");
}

TEST(NormFolding, IsNothingThatTakesLittleOrStandsElsewhere) {
  ProgramBuilder little(10'000);
  layers(little, 50, kEval);
  EXPECT_TRUE(JudgedTrace(little.trace()).findings(norm_folding()).empty());
  ProgramBuilder apart(10'000);
  apart.op("aten::conv2d", "conv_kernel", 3000);
  apart.op("aten::relu", "relu", 1000);
  apart.op("aten::batch_norm", "bn_fw_inf", 1000).shapes(kShapes).types(kTypes).concrete(kEval);
  EXPECT_TRUE(JudgedTrace(apart.trace()).findings(norm_folding()).empty());
}

TEST(NormFolding, SeesInferenceInTheNameOfItsKernel) {
  ProgramBuilder program(10'000);
  layers(program, 1000, "");
  EXPECT_EQ(JudgedTrace(program.trace()).findings(norm_folding()).size(), 1U);
}

TEST(NormFolding, AbstainsWhereNothingShowsWhetherItTrains) {
  ProgramBuilder program(10'000);
  program.op("aten::conv2d", "conv_kernel", 5000);
  program.op("aten::batch_norm", "batch_norm_transform_input_kernel", 1000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(norm_folding()), "");
}

}  // namespace
}  // namespace fathom

#include <algorithm>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule fusable_elementwise();

namespace {

constexpr std::string_view kAdd = "void at::native::vectorized_elementwise_kernel<4, add>(int)";

TEST(FusableElementwise, IsAllButTheLongestOfAChainWhichIsAsShortAsTheMedianAtBest) {
  ProgramBuilder program(20'000);
  program.op("aten::add", kAdd, 1000);
  program.op("aten::mul", kAdd, 3000);
  program.op("aten::sigmoid", kAdd, 1000);
  program.op("aten::mm", "gemm", 5000);
  const JudgedTrace judged(program.trace());
  const auto findings = judged.findings(fusable_elementwise());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(4000)) << "one kernel of 1000 ns is left";
  float left = 0;
  for (const auto& [slice, factor] : findings[0].edits.scale) left = std::max(left, factor);
  EXPECT_NEAR(left, 2.0 / 3.0, 1e-6) << "likely 2000 ns of the longest kernel's 3000";
}

TEST(FusableElementwise, NamesAllTheTimeOfItsTitleAsEvidence) {
  ProgramBuilder program(20'000);
  program.op("aten::add", kAdd, 1000);
  program.op("aten::mul", kAdd, 3000);
  program.op("aten::sigmoid", kAdd, 1000);
  const auto findings = JudgedTrace(program.trace()).findings(fusable_elementwise());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("4.000 µs"), std::string::npos) << findings[0].title;
  ASSERT_EQ(findings[0].evidence.size(), 2U);
  EXPECT_NE(findings[0].evidence[0].text.find("take 2.000 µs"), std::string::npos);
  EXPECT_NE(findings[0].evidence[1].text.find("would take 2.000 µs"), std::string::npos);
  EXPECT_TRUE(findings[0].cause.empty());
}

/// The fix for a chain beside an operator of this name.
Fix fix_beside(std::string_view name) {
  ProgramBuilder program(20'000);
  program.op("aten::add", kAdd, 1000);
  program.op("aten::mul", kAdd, 3000);
  program.op("aten::sigmoid", kAdd, 1000);
  program.op(name, "gemm", 5000);
  return JudgedTrace(program.trace()).findings(fusable_elementwise()).at(0).fix;
}

TEST(FusableElementwise, SaysWhereACompiledProgramRunsOperators) {
  EXPECT_NE(fix_beside("aten::mm").text.find("Compile the model"), std::string::npos);
  EXPECT_NE(fix_beside("CompiledFunction").text.find("inductor"), std::string::npos);
  EXPECT_NE(fix_beside("## Call CompiledFxGraph abc ##").text.find("graph_breaks"),
            std::string::npos);
}

TEST(FusableElementwise, IsNothingForPairs) {
  ProgramBuilder program(20'000);
  for (int i = 0; i < 3; ++i) {
    program.op("aten::add", kAdd, 1000);
    program.op("aten::mul", kAdd, 1000);
    program.op("aten::mm", "gemm", 1000);
  }
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(fusable_elementwise()).empty());
}

TEST(FusableElementwise, IsNothingWhereABenchmarkRepeatsOneCall) {
  const auto repeated = [](std::string_view last) {
    ProgramBuilder program(20'000);
    for (const std::string_view shapes :
         {std::string_view("[[8,8],[8,8]]"), std::string_view("[[8,8],[8,8]]"), last})
      program.op("aten::add", kAdd, 1000).shapes(shapes);
    return JudgedTrace(program.trace()).findings(fusable_elementwise()).size();
  };
  EXPECT_EQ(repeated("[[8,8],[8,8]]"), 0U);
  EXPECT_EQ(repeated("[[8,8],[8,1]]"), 1U)
      << "a program that adds twice the same way, then another";
}

TEST(FusableElementwise, IsOfTheMainThreadsOperatorsWithoutADevice) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::mul", 100, 100);
  builder.op("aten::to", 110, 20);
  builder.op("aten::view", 210, 5);
  builder.op("aten::add", 220, 200);
  builder.op("aten::tanh", 430, 50);
  builder.op("aten::mm", 500, 300);
  builder.op("aten::mul", 810, 100);
  const auto findings = JudgedTrace(builder).findings(fusable_elementwise());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(250 + 100 + 10))
      << "all but one operator of 100 ns; the Python before mul and tanh";
}

TEST(FusableElementwise, IsTheOptimizersByTimeNotByNumber) {
  // Three operators of the model, and 30 of the optimizer.
  const auto fix = [](std::int64_t models) {
    TraceBuilder builder;
    builder.step(1, 0, 20'000);
    builder.op("aten::mul", 0, models);
    builder.op("aten::add", models, models);
    builder.op("aten::tanh", 2 * models, models);
    builder.op("aten::mm", 3 * models, 50);
    builder.annotation("Optimizer.step#SGD.step", 16'000, 3000);
    for (std::int64_t i = 0; i < 30; ++i) builder.op("aten::add_", 16'000 + 50 * i, 50);
    return JudgedTrace(builder).findings(fusable_elementwise()).at(0).fix.text;
  };
  EXPECT_NE(fix(5000).find("Compile the model"), std::string::npos) << fix(5000);
  EXPECT_NE(fix(100).find("Most of them are the optimizer's"), std::string::npos) << fix(100);
}

TEST(FusableElementwise, EndsAChainWithItsStep) {
  TraceBuilder builder;
  for (const std::int64_t at : {0, 1000}) {
    builder.step(at / 1000, at, 1000);
    builder.op("aten::mul", at, 300);
    builder.op("aten::add", at + 300, 300);
    builder.op("aten::tanh", at + 600, 300);
  }
  const auto findings = JudgedTrace(builder).findings(fusable_elementwise());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(1200)) << "one of three is left in each";
  EXPECT_NE(findings[0].evidence[0].text.find("1 chain of"), std::string::npos);
}

TEST(FusableElementwise, AbstainsWhereTheDeviceWasNotRecorded) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.op("aten::add", 0, 50);
  builder.runtime("cudaLaunchKernel", 10, 10, 1);
  EXPECT_NE(JudgedTrace(builder).abstains(fusable_elementwise()), "");
}

TEST(FusableElementwise, LeavesAveragesOfTheWeightsToTheOptimizersRule) {
  const auto findings = [](std::string_view after) {
    TraceBuilder builder;
    builder.step(0, 0, 100'000);
    for (std::int64_t i = 0; i < 8; ++i)
      builder.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                 1000 + 1000 * i, 500);
    builder.annotation(after, 10'000, 2000);
    builder.op("aten::_foreach_add_", 10'100, 1500);
    for (std::int64_t i = 0; i < 8; ++i) {
      builder.op("aten::mul_", 20'000 + 4000 * i, 1900);
      builder.op("aten::add_", 22'000 + 4000 * i, 1900);
    }
    return JudgedTrace(builder).findings(fusable_elementwise()).size();
  };
  EXPECT_EQ(findings("Optimizer.step#SGD.step"), 0U) << "each works on another weight";
  EXPECT_EQ(findings("my range"), 1U);
}

}  // namespace
}  // namespace fathom

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule recompilation();

namespace {

/// Four steps of 1000 ns; those from `first` to `last` compile for 600 ns.
void steps(TraceBuilder& builder, int first, int last) {
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t at = 1000 * i;
    builder.step(i, at, 1000);
    builder.op("TorchDynamo Cache Lookup", at + 5, 5);
    if (first <= i && i <= last) {
      builder.op("dynamo", at + 10, 600);
      builder.op("_compile.compile_inner (dynamo_timed)", at + 20, 580);
      builder.op("aten::empty", at + 100, 20);
    }
    builder.op("Torch-Compiled Region: 0/" + std::to_string(i), at + 700, 200);
  }
}

TEST(Recompilation, IsToldWhenStepsCompile) {
  TraceBuilder builder;
  steps(builder, 0, 3);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(recompilation());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "steps");
  EXPECT_EQ(findings[0].weight, Weight::critical);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 4 * (600 + 90)) << "and the Python right after";
  EXPECT_NE(findings[0].evidence[0].text.find("0/3"), std::string::npos);
}

TEST(Recompilation, OfTheFirstStepAloneIsWarmUp) {
  TraceBuilder builder;
  steps(builder, 0, 0);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(recompilation());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "first-step");
  EXPECT_EQ(findings[0].family, Family::capture);
  EXPECT_TRUE(findings[0].claims.empty());
}

TEST(Recompilation, IsNotTheRunningOfCompiledCode) {
  TraceBuilder builder;
  steps(builder, 9, 9);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(recompilation()).empty());
  EXPECT_EQ(judged.abstains(recompilation()), "");
}

TEST(Recompilation, IsToldByPythonFrames) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) {
    builder.step(i, 1000 * i, 1000);
    builder.frame("torch/_dynamo/convert_frame.py(812): _compile", 1000 * i + 100, 500);
    builder.op("aten::mm", 1000 * i + 700, 200);
  }
  const std::vector<Finding> findings = JudgedTrace(builder).findings(recompilation());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(to_ns(total(findings[0].claims)), 3 * (500 + 100 + 100)) << "and Python around it";
}

TEST(Recompilation, TellsGraphBreaks) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) {
    builder.step(i, 1000 * i, 1000);
    for (std::int64_t region = 0; region < 4; ++region) {
      builder.op("Torch-Compiled Region: " + std::to_string(region) + "/0", 1000 * i + 200 * region,
                 100);
    }
  }
  const std::vector<Finding> findings = JudgedTrace(builder).findings(recompilation());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "graph-breaks");
}

TEST(Recompilation, TellsGraphBreaksWhosePiecesCallOneAnother) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  for (std::int64_t region = 0; region < 3; ++region) {
    builder.op("Torch-Compiled Region: " + std::to_string(region) + "/0", 100 * (region + 1),
               800 - 200 * region);
  }
  const std::vector<Finding> findings = JudgedTrace(builder).findings(recompilation());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].key, "graph-breaks");
}

TEST(Recompilation, TakesFunctionsOfOptimizersAndOtherThreadsForNoGraphBreaks) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("Torch-Compiled Region: 0/0", 100, 200);
  builder.op("Torch-Compiled Region: 1/0", 150, 100);
  builder.annotation("Optimizer.step#Muon.step", 600, 300);
  builder.op("Torch-Compiled Region: 2/0", 610, 100);
  builder.op("Torch-Compiled Region: 3/0", 720, 100);
  builder.on_thread(2);
  builder.op("autograd::engine::evaluate_function: CompiledFunctionBackward", 350, 100);
  builder.op("Torch-Compiled Region: 4/0", 360, 80);
  EXPECT_TRUE(JudgedTrace(builder).findings(recompilation()).empty());
}

TEST(Recompilation, AbstainsWithoutOperators) {
  TraceBuilder builder;
  builder.kernel("gemm", 0, 100);
  EXPECT_NE(JudgedTrace(builder).abstains(recompilation()), "");
}

}  // namespace
}  // namespace fathom

#include <string>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule growing_tensors();

namespace {

std::string joined(std::int64_t old, std::int64_t added) {
  return "[[[8," + std::to_string(old) + ",64],[8," + std::to_string(added) + ",64]],[]]";
}

/// `calls` of aten::cat, each of which adds one row to the result of the one before.
ProgramBuilder growing(int calls, std::int64_t first) {
  ProgramBuilder program(1'000'000);
  for (int i = 0; i < calls; ++i) {
    program.op("aten::cat", "CatArrayBatchedCopy", 50'000).shapes(joined(first + i, 1));
    program.op("aten::mm", "gemm", 10'000).shapes("[[8,64],[64,64]]");
  }
  return program;
}

TEST(GrowingTensors, AreToldWhereEachCallTakesWhatTheOneBeforeMade) {
  ProgramBuilder program = growing(10, 99);
  const auto findings = JudgedTrace(program.trace()).findings(growing_tensors());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("500.0 µs"), std::string::npos) << findings[0].title;
  EXPECT_NE(findings[0].evidence[0].text.find("10 calls of aten::cat in 1 chain"),
            std::string::npos)
      << findings[0].evidence[0].text;
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 10 * 48'000, 100)
      << "what is new takes a hundredth, but a kernel at least 2 us";
  EXPECT_NE(findings[0].fix.after.find("new_empty"), std::string::npos);
}

TEST(GrowingTensors, AreFoundInSeveralLayersThatGrowTogether) {
  ProgramBuilder program(1'000'000);
  for (int token = 0; token < 3; ++token) {
    for (int layer = 0; layer < 4; ++layer)
      program.op("aten::cat", "CatArrayBatchedCopy", 50'000).shapes(joined(99 + token, 1));
  }
  const auto findings = JudgedTrace(program.trace()).findings(growing_tensors());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].evidence[0].text.find("12 calls of aten::cat in 4 chains"),
            std::string::npos)
      << findings[0].evidence[0].text;
}

TEST(GrowingTensors, AreNothingWhereResultsAreNotJoinedAgain) {
  ProgramBuilder program(1'000'000);
  for (int i = 0; i < 10; ++i)
    program.op("aten::cat", "CatArrayBatchedCopy", 50'000).shapes(joined(99, 1));
  const JudgedTrace judged(program.trace());
  EXPECT_TRUE(judged.findings(growing_tensors()).empty());
  EXPECT_EQ(judged.abstains(growing_tensors()), "");
}

TEST(GrowingTensors, AreNothingWhereHalvesAreJoined) {
  ProgramBuilder program(1'000'000);
  std::int64_t size = 1;
  for (int i = 0; i < 10; ++i, size *= 4)
    program.op("aten::cat", "CatArrayBatchedCopy", 50'000).shapes(joined(size, 3 * size));
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(growing_tensors()).empty());
}

TEST(GrowingTensors, AreNothingWhereTheyGrowInAnotherDimension) {
  ProgramBuilder program(1'000'000);
  for (int i = 0; i < 10; ++i) {
    const std::string old = std::to_string(90 + i / 2);
    const std::string rows = std::to_string(90 + (i + 1) / 2);
    program.op("aten::cat", "CatArrayBatchedCopy", 50'000)
        .shapes(i % 2 == 0 ? "[[[" + rows + "," + old + "],[" + rows + ",1]],[]]"
                           : "[[[" + std::to_string(90 + i / 2) + "," + std::to_string(91 + i / 2) +
                                 "],[1," + std::to_string(91 + i / 2) + "]],[]]");
  }
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(growing_tensors()).empty());
}

TEST(GrowingTensors, AdviseAListWhereAutogradTrains) {
  ProgramBuilder program = growing(10, 99);
  program.op("autograd::engine::evaluate_function: MmBackward0", "gemm", 1000);
  const auto findings = JudgedTrace(program.trace()).findings(growing_tensors());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].fix.after, "out = torch.cat(list(parts()), dim=1)");
}

TEST(GrowingTensors, AreToldOfTheMainThreadWithoutADevice) {
  TraceBuilder builder;
  builder.step(1, 0, 1'000'000);
  for (int i = 0; i < 8; ++i)
    builder.op("aten::cat", 1000 + 100'000 * i, 50'000).shapes(joined(9 + i, 1));
  const auto findings = JudgedTrace(builder).findings(growing_tensors());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("400.0 µs"), std::string::npos) << findings[0].title;
}

TEST(GrowingTensors, OfWhichEachStepHasOneCallAreToldWhereTheyTakeMuch) {
  const auto steps = [](std::int64_t takes) {
    TraceBuilder builder;
    for (int i = 0; i < 3; ++i) {
      builder.step(i, 100'000 * i, 100'000);
      builder.op("aten::cat", 100'000 * i + 1000, takes).shapes(joined(900 + i, 1));
    }
    return JudgedTrace(builder).findings(growing_tensors()).size();
  };
  EXPECT_EQ(steps(60'000), 1U);
  EXPECT_EQ(steps(10'000), 0U);
}

TEST(GrowingTensors, WithoutShapesJoiningIsToldWhereItIsMostOfTheStep) {
  const auto findings = [](std::int64_t takes) {
    TraceBuilder builder;
    builder.step(1, 0, 100'000);
    builder.op("aten::cat", 1000, takes);
    return JudgedTrace(builder).findings(growing_tensors());
  };
  const auto found = findings(60'000);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title, "Joining tensors (aten::cat) takes 60.00 µs (60.0 % of the step)");
  EXPECT_EQ(found[0].confidence, Confidence::low) << "all of it may be new";
  EXPECT_EQ(total(found[0].claims), duration_ns(48'000));
  EXPECT_TRUE(findings(40'000).empty());
}

TEST(GrowingTensors, AbstainWithoutShapes) {
  ProgramBuilder program(1'000'000);
  for (int i = 0; i < 10; ++i) program.op("aten::cat", "CatArrayBatchedCopy", 50'000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(growing_tensors()), "");
}

}  // namespace
}  // namespace fathom

#include <string>

#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule python_loop();

namespace {

/// `rounds` times a slice of one tensor and a product of it, 20 ns each.
void loop(TraceBuilder& builder, int rounds, bool values = true) {
  for (std::int64_t i = 0; i < rounds; ++i) {
    TraceBuilder::Event select = builder.op("aten::select", 100 + 40 * i, 20);
    select.shapes("[[64,8],[],[]]");
    if (values) select.concrete(R"(["","0",")" + std::to_string(i) + R"("])");
    builder.op("aten::mv", 120 + 40 * i, 20);
  }
}

TEST(PythonLoop, IsToldWhereSlicesAreTakenOneByOne) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  loop(builder, 12);
  builder.op("aten::stack", 700, 20);
  const auto findings = JudgedTrace(builder).findings(python_loop());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("aten::select, aten::mv"), std::string::npos);
  EXPECT_GT(to_ns(total(findings[0].claims)), 380);
  EXPECT_LE(to_ns(total(findings[0].claims)), 440) << "the last round ends with something else";
}

TEST(PythonLoop, IsToldWithoutRecordedValuesWhereBlocksAreShort) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  loop(builder, 12, /*values=*/false);
  EXPECT_EQ(JudgedTrace(builder).findings(python_loop()).size(), 1U);
}

TEST(PythonLoop, IsToldWhereRowsAreChosenByMasks) {
  TraceBuilder builder;
  builder.step(0, 0, 2000);
  for (std::int64_t i = 0; i < 12; ++i) {
    builder.op("aten::eq", 100 + 80 * i, 20).concrete(R"(["",")" + std::to_string(i) + R"("])");
    builder.op("aten::index", 120 + 80 * i, 20).shapes("[[4000],[[4000]]]").concrete(R"(["",""])");
    const std::string rows = std::to_string(5 + i);
    builder.op("aten::index", 140 + 80 * i, 20)
        .shapes("[[500,64],[[" + rows + "]]]")
        .concrete(R"(["",""])");
    builder.op("aten::sum", 160 + 80 * i, 20).concrete(R"(["","[0]","False",""])");
  }
  EXPECT_EQ(JudgedTrace(builder).findings(python_loop()).size(), 1U)
      << "the values of a mask are not recorded, and so cannot be the same";
}

TEST(PythonLoop, IsToldWhereATensorIsIterated) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::unbind", 100, 20);
  for (std::int64_t i = 0; i < 12; ++i) {
    builder.op("aten::tanh", 120 + 40 * i, 20);
    builder.op("aten::sum", 140 + 40 * i, 20);
  }
  EXPECT_EQ(JudgedTrace(builder).findings(python_loop()).size(), 1U);
}

TEST(PythonLoop, TakesTheSlicesAndTheirJoiningAwayEntirely) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  loop(builder, 12);
  builder.op("aten::stack", 580, 200);
  builder.op("aten::mm", 800, 100);
  const auto findings = JudgedTrace(builder).findings(python_loop());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_GT(to_ns(total(findings[0].claims)), 600) << "the stack is gone, too";
  EXPECT_LT(to_ns(total(findings[0].claims)), 680);
}

TEST(PythonLoop, KeepsWhatProductsCompute) {
  TraceBuilder builder;
  builder.step(0, 0, 100'000);
  for (std::int64_t i = 0; i < 12; ++i) {
    builder.op("aten::select", 1000 + 5000 * i, 1000)
        .concrete(R"(["","0",")" + std::to_string(i) + R"("])");
    builder
        .op("aten::mm", 2000 + 5000 * i, 4000)  // 200,000 FLOP
        .shapes("[[1,1000],[1000,100]]")
        .types(R"(["float","float"])");
  }
  const auto findings = JudgedTrace(builder).findings(python_loop());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 12 * 1000 + 11 * 2000, 20);
}

TEST(PythonLoop, IsNoneOverTheNumbersOfASchedule) {
  const auto found = [](std::string_view shapes) {
    TraceBuilder builder;
    builder.step(0, 0, 100'000);
    for (std::int64_t i = 0; i < 12; ++i) {
      builder.op("aten::select", 1000 + 5000 * i, 1000)
          .concrete(R"(["","0",")" + std::to_string(i) + R"("])")
          .shapes(shapes)
          .types(R"(["float","Scalar","Scalar"])");
      builder.op("aten::mul", 2000 + 5000 * i, 4000);
    }
    return JudgedTrace(builder).findings(python_loop()).size();
  };
  EXPECT_EQ(found("[[50],[],[]]"), 0U);
  EXPECT_EQ(found("[[50,8],[],[]]"), 1U);
}

TEST(PythonLoop, CountsWhatTheDeviceIdles) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::int64_t at = 100 + 80 * i;
    builder.op("aten::select", at, 20).concrete(R"(["","0",")" + std::to_string(i) + R"("])");
    builder.op("aten::mv", at + 20, 50);
    builder.runtime("cudaLaunchKernel", at + 60, 5, i + 1);
    builder.kernel("gemv", at + 66, 10, i + 1);
  }
  const auto findings = JudgedTrace(builder).findings(python_loop());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 8.0 * 80, 70);
}

/// The backward pass of loop(): its last round first, 40 ns for a slice, 40 ns for a product of
/// which 10 ns sum gradients.
void backward(TraceBuilder& builder, int rounds) {
  for (std::int64_t i = rounds - 1, at = 1000; i >= 0; --i, at += 80) {
    builder.op("autograd::engine::evaluate_function: MvBackward0", at, 40).sequence(2 * i + 1, 1);
    builder.op("MvBackward0", at, 20).sequence(2 * i + 1, 1);
    builder.op("aten::add_", at + 20, 10);
    builder.op("autograd::engine::evaluate_function: SelectBackward0", at + 40, 40)
        .sequence(2 * i, 1);
    builder.op("SelectBackward0", at + 40, 30).sequence(2 * i, 1);
    builder.op("aten::zeros", at + 45, 20);
  }
}

/// What the rule finds in 12 rounds, with or without their backward pass.
Finding of_rounds(bool differentiated) {
  TraceBuilder builder;
  builder.step(0, 0, 2000);
  for (std::int64_t i = 0; i < 12; ++i) {
    builder.op("aten::select", 100 + 40 * i, 20)
        .concrete(R"(["","0",")" + std::to_string(i) + R"("])")
        .sequence(2 * i);
    builder.op("aten::mv", 120 + 40 * i, 20).sequence(2 * i + 1);
  }
  builder.op("aten::sum", 600, 20);  // Part of the last block, which so is none of the loop.
  if (differentiated) backward(builder, 12);
  const auto findings = JudgedTrace(builder).findings(python_loop());
  return findings.size() == 1 ? findings[0] : Finding{};
}

TEST(PythonLoop, CountsTheBackwardPassOfItsOperators) {
  const Finding forward = of_rounds(false);
  const Finding both = of_rounds(true);
  ASSERT_FALSE(both.claims.empty());
  EXPECT_NEAR(static_cast<double>(to_ns(total(both.claims) - total(forward.claims))),
              11 * (40 + 10) + 10 * 30, 11)
      << "slices' nodes and sums are gone, one product's node does for all";
  EXPECT_NE(both.evidence[0].text.find("in their backward pass"), std::string::npos);
  EXPECT_EQ(forward.evidence[0].text.find("in their backward pass"), std::string::npos);
}

TEST(PythonLoop, TakesAwayTheKernelsOfSlicesGradients) {
  TraceBuilder builder;
  builder.step(0, 0, 4000);
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::int64_t at = 100 + 80 * i;
    builder.op("aten::select", at, 20)
        .concrete(R"(["","0",")" + std::to_string(i) + R"("])")
        .sequence(2 * i);
    builder.op("aten::mv", at + 20, 50).sequence(2 * i + 1);
    builder.runtime("cudaLaunchKernel", at + 60, 5, i + 1);
    builder.kernel("gemv", at + 66, 10, i + 1);
  }
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::int64_t at = 1000 + 100 * i;
    builder.op("SelectBackward0", at, 60).sequence(2 * i, 1);
    builder.op("aten::zeros", at + 10, 40);
    builder.runtime("cudaLaunchKernel", at + 20, 5, i + 100);
    builder.kernel("fill", at + 30, 60, i + 100);
  }
  const JudgedTrace judged(builder);
  const auto findings = judged.findings(python_loop());
  ASSERT_EQ(findings.size(), 1U);
  Duration kernels{};
  for (const Claim& claim : findings[0].claims) {
    if (claim.slice.valid() && judged.trace().name(claim.slice) == "fill") kernels += claim.time;
  }
  EXPECT_EQ(kernels, duration_ns(600));
}

TEST(PythonLoop, IsNothingForAFewRounds) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  loop(builder, 9);
  EXPECT_TRUE(JudgedTrace(builder).findings(python_loop()).empty());
}

TEST(PythonLoop, IsNothingForLayersThatTakeTheSameSlice) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  for (std::int64_t i = 0; i < 12; ++i) {
    builder.op("aten::slice", 100 + 40 * i, 20)
        .shapes("[[64,8],[],[]]")
        .concrete(R"(["","0","4"])");
    builder.op("aten::linear", 120 + 40 * i, 20);
  }
  EXPECT_TRUE(JudgedTrace(builder).findings(python_loop()).empty());
}

TEST(PythonLoop, IsNothingForARecurrence) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  for (std::int64_t i = 0; i < 12; ++i) {
    builder.op("aten::select", 100 + 40 * i, 20)
        .concrete(R"(["","0",")" + std::to_string(i) + R"("])");
    builder.op("aten::gru_cell", 120 + 40 * i, 20);
  }
  EXPECT_TRUE(JudgedTrace(builder).findings(python_loop()).empty());
}

TEST(PythonLoop, IsNothingWhereAnOperatorItselfLoops) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::bmm", 50, 900);
  loop(builder, 12);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(python_loop()).empty());
  EXPECT_EQ(judged.abstains(python_loop()), "");
}

TEST(PythonLoop, AbstainsWhereTheDeviceWasNotRecorded) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  loop(builder, 12);
  builder.runtime("cudaLaunchKernel", 900, 10, 1);
  EXPECT_NE(JudgedTrace(builder).abstains(python_loop()), "");
}

}  // namespace
}  // namespace fathom

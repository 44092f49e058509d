#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule one_hot_products();

namespace {

constexpr std::string_view kScattered = R"(["","1","","1"])";

/// One-hot vectors of 64 rows and 1000 classes, as F.one_hot makes them.
void make_vectors(ProgramBuilder& program) {
  program.around("aten::one_hot", 2);
  program.op("aten::zeros", "fill", 1000);
  program.op("aten::scatter_", "scatter", 1000)
      .shapes("[[64,1000],[],[64,1],[]]")
      .concrete(kScattered);
}

TEST(OneHotProducts, AreToldWithWhatMakesAndConvertsTheVectors) {
  ProgramBuilder program(100'000);
  make_vectors(program);
  program.op("aten::to", "copy", 1000).shapes("[[64,1000],[]]");
  program.op("aten::matmul", "gemm", 7000).shapes("[[64,1000],[1000,128]]");
  program.op("aten::relu", "elementwise", 5000).shapes("[[64,128]]");
  const auto findings = JudgedTrace(program.trace()).findings(one_hot_products());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("10.00 µs"), std::string::npos) << findings[0].title;
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 3000 + 0.936 * 7000, 5);
}

TEST(OneHotProducts, LeaveAProductOfFewClassesAlone) {
  ProgramBuilder program(1'000'000);
  program.op("aten::scatter_", "scatter", 1000)
      .shapes("[[64,10],[],[64,1],[]]")
      .concrete(kScattered);
  program.op("aten::mm", "gemm", 700'000).shapes("[[64,10],[10,128]]");
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(one_hot_products()).empty());
}

TEST(OneHotProducts, AreToldOfVectorsThatTheProgramScatters) {
  ProgramBuilder program(100'000);
  program.op("aten::zeros", "fill", 1000);
  program.op("aten::scatter_", "scatter", 1000)
      .shapes("[[8,16,1000],[],[8,16,1],[]]")
      .concrete(kScattered);
  program.op("aten::linear", "gemm", 9000).shapes("[[8,16,1000],[128,1000],[]]");
  EXPECT_EQ(JudgedTrace(program.trace()).findings(one_hot_products()).size(), 1U);
}

TEST(OneHotProducts, AreNothingWhereVectorsGoIntoALoss) {
  ProgramBuilder program(100'000);
  make_vectors(program);
  program.op("aten::mul", "elementwise", 5000).shapes("[[64,1000],[64,1000]]");
  program.op("aten::mm", "gemm", 7000).shapes("[[64,1000],[1000,128]]");
  const JudgedTrace judged(program.trace());
  EXPECT_TRUE(judged.findings(one_hot_products()).empty());
  EXPECT_EQ(judged.abstains(one_hot_products()), "");
}

TEST(OneHotProducts, AreNothingWhereTheProductTakesAnotherSize) {
  ProgramBuilder program(100'000);
  make_vectors(program);
  program.op("aten::mm", "gemm", 7000).shapes("[[32,1000],[1000,128]]");
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(one_hot_products()).empty());
}

TEST(OneHotProducts, AreNothingWhereOtherValuesAreScattered) {
  ProgramBuilder program(100'000);
  program.op("aten::scatter_", "scatter", 1000)
      .shapes("[[64,1000],[],[64,1],[]]")
      .concrete(R"(["","1","","0.1"])");
  program.op("aten::mm", "gemm", 7000).shapes("[[64,1000],[1000,128]]");
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(one_hot_products()).empty());
}

TEST(OneHotProducts, AbstainWithoutShapes) {
  ProgramBuilder program(100'000);
  program.op("aten::one_hot", "scatter", 1000);
  program.op("aten::mm", "gemm", 7000);
  EXPECT_NE(JudgedTrace(program.trace()).abstains(one_hot_products()), "");
}

}  // namespace
}  // namespace fathom

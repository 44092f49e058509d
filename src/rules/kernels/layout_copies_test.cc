#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule layout_copies();

namespace {

TEST(LayoutCopies, AreToldWhereContiguousCopies) {
  ProgramBuilder program(20'000);
  program.around("aten::contiguous", 1);
  program.op("aten::copy_", "elementwise_copy", 3000);
  program.op("aten::mm", "gemm", 3000);
  const auto findings = JudgedTrace(program.trace()).findings(layout_copies());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(3000)) << "at best";
}

TEST(LayoutCopies, AreNothingForOrdinaryCopies) {
  ProgramBuilder program(20'000);
  program.op("aten::copy_", "elementwise_copy", 3000);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(layout_copies()).empty());
}

TEST(LayoutCopies, AreNoCopiesThatAreChangedInPlace) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::masked_fill", 100, 400);
  builder.op("aten::clone", 110, 200);
  builder.op("aten::copy_", 120, 180);
  builder.op("aten::masked_fill_", 320, 150);
  EXPECT_TRUE(JudgedTrace(builder).findings(layout_copies()).empty());
}

TEST(LayoutCopies, AreToldOfTheMainThreadWithoutADevice) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::contiguous", 100, 200);
  builder.op("aten::copy_", 110, 150);
  builder.op("aten::mm", 400, 500);
  const auto findings = JudgedTrace(builder).findings(layout_copies());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(total(findings[0].claims), duration_ns(300)) << "and the Python before it";
}

TEST(LayoutCopies, AreNoViewsOfTheMainThread) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::reshape", 100, 200);
  builder.op("aten::view", 110, 150);
  builder.op("aten::mm", 400, 500);
  EXPECT_TRUE(JudgedTrace(builder).findings(layout_copies()).empty());
}

TEST(LayoutCopies, NameThePythonThatTheyClaim) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::contiguous", 100, 200);
  builder.op("aten::copy_", 110, 150);
  const auto findings = JudgedTrace(builder).findings(layout_copies());
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_EQ(findings[0].evidence.size(), 2U);
  EXPECT_NE(findings[0].evidence[1].text.find("takes 100 ns"), std::string::npos)
      << findings[0].evidence[1].text;
}

TEST(LayoutCopies, AbstainWhereTheDeviceWasNotRecorded) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.op("aten::contiguous", 0, 50);
  builder.runtime("cudaLaunchKernel", 10, 10, 1);
  EXPECT_NE(JudgedTrace(builder).abstains(layout_copies()), "");
}

TEST(LayoutCopies, AreNotTheCopyThatIsPutInOrder) {
  const auto found = [](std::string_view around) {
    TraceBuilder builder;
    builder.step(0, 0, 1000);
    builder.op(around, 0, 900);
    builder.op("aten::clone", 10, 500);
    builder.op("aten::copy_", 20, 480);
    return JudgedTrace(builder).findings(layout_copies()).size();
  };
  EXPECT_EQ(found("aten::median"), 0U);
  EXPECT_EQ(found("aten::linear"), 1U);
}

}  // namespace
}  // namespace fathom

#include <gtest/gtest.h>

#include "rules/program_builder.h"
#include "rules/rule_fixture.h"

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
  EXPECT_EQ(total(findings[0].claims), duration_ns(2100));
}

TEST(LayoutCopies, AreNothingForOrdinaryCopies) {
  ProgramBuilder program(20'000);
  program.op("aten::copy_", "elementwise_copy", 3000);
  EXPECT_TRUE(JudgedTrace(program.trace()).findings(layout_copies()).empty());
}

TEST(LayoutCopies, AbstainWithoutADevice) {
  TraceBuilder builder;
  builder.op("aten::contiguous", 0, 10);
  EXPECT_NE(JudgedTrace(builder).abstains(layout_copies()), "");
}

}  // namespace
}  // namespace fathom

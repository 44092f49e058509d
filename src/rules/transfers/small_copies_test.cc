#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule small_copies();

namespace {

/// A step of 2000 ns with `count` uploads, each asked for in 50 ns and running for 10.
void uploads(TraceBuilder& builder, int count, std::int64_t bytes, std::string_view around = {}) {
  builder.step(0, 0, 2000);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = 100 + 100 * i;
    if (!around.empty()) builder.op(around, at - 1, 52);
    builder.op("aten::to", at, 50);
    builder.op("aten::copy_", at + 5, 40);
    builder.runtime("cudaMemcpyAsync", at + 10, 10, i + 1);
    builder.copy(CopyKind::h2d, at + 30, 10, i + 1, bytes);
  }
}

TEST(SmallCopies, AreToldWhereThereAreMany) {
  TraceBuilder builder;
  uploads(builder, 12, 64);
  const auto findings = JudgedTrace(builder).findings(small_copies());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title.substr(0, 24), "12 small copies per step");
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 0.9 * 12 * 50, 60);
}

TEST(SmallCopies, NameSingleNumbersWhereMostAreSuch) {
  TraceBuilder builder;
  uploads(builder, 12, 8);
  const auto findings = JudgedTrace(builder).findings(small_copies());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find(", 12 of them of single numbers: "), std::string::npos)
      << findings[0].title;
  EXPECT_EQ(findings[0].fix.after, "y = x * scale");
}

TEST(SmallCopies, DoNotCallTensorsNumbers) {
  TraceBuilder builder;
  uploads(builder, 12, 64);
  const auto findings = JudgedTrace(builder).findings(small_copies());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].title.find("single numbers"), std::string::npos) << findings[0].title;
  EXPECT_NE(findings[0].fix.text.find("Join them"), std::string::npos);
}

TEST(SmallCopies, AreNothingWhereThereAreFew) {
  TraceBuilder builder;
  uploads(builder, 9, 64);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(small_copies()).empty());
  EXPECT_EQ(judged.abstains(small_copies()), "");
}

TEST(SmallCopies, AreNothingWhereTheyAreLarge) {
  TraceBuilder builder;
  uploads(builder, 12, 1 << 20);
  EXPECT_TRUE(JudgedTrace(builder).findings(small_copies()).empty());
}

TEST(SmallCopies, LeaveValuesToTheRuleOfWaits) {
  TraceBuilder builder;
  uploads(builder, 12, 4, "aten::item");
  EXPECT_TRUE(JudgedTrace(builder).findings(small_copies()).empty());
}

TEST(SmallCopies, AbstainWithoutADevice) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 50);
  EXPECT_NE(JudgedTrace(builder).abstains(small_copies()), "");
}

}  // namespace
}  // namespace fathom

#include <gtest/gtest.h>

#include "rules/common/rule_fixture.h"

namespace fathom {

Rule prefill_decode();

namespace {

/// `count` products with `rows` rows from `at` on, with a kernel of `kernel` ns each.
std::int64_t products(TraceBuilder& builder, std::int64_t at, int count, std::int64_t rows,
                      std::int64_t kernel) {
  for (int i = 0; i < count; ++i) {
    builder.op("aten::mm", at, kernel).shapes("[[" + std::to_string(rows) + ",64],[64,64]]");
    builder.runtime("cudaLaunchKernel", at + 1, 2, at + 1);
    builder.kernel("gemm", at + 4, kernel - 4, at + 1);
    at += kernel;
  }
  return at;
}

TEST(PrefillDecode, AreToldByTheRowsOfEqualProducts) {
  TraceBuilder builder;
  const std::int64_t at = products(builder, 0, 12, 512, 104);
  products(builder, at, 30, 1, 14);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(prefill_decode());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].confidence, Confidence::medium);
  EXPECT_NE(findings[0].title.find("Prefill takes 1.200 µs"), std::string::npos);
  EXPECT_NE(findings[0].title.find("decode 300 ns"), std::string::npos);
}

TEST(PrefillDecode, AreToldByAnnotations) {
  TraceBuilder builder;
  builder.annotation("step[PREFILL bs=2]", 0, 700);
  builder.annotation("step[DECODE bs=32]", 700, 300);
  products(builder, 0, 10, 8, 100);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(prefill_decode());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].confidence, Confidence::high);
}

TEST(PrefillDecode, ShareAPassWhereTheAnnotationSaysSo) {
  TraceBuilder builder;
  builder.annotation("execute_context_9(sq10sk20)_generation_37(sq37)", 0, 1000);
  products(builder, 0, 10, 8, 100);
  const std::vector<Finding> findings = JudgedTrace(builder).findings(prefill_decode());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].title.find("share passes"), std::string::npos);
}

TEST(PrefillDecode, AreNotTwoInOneKindOfPass) {
  TraceBuilder builder;
  products(builder, 0, 30, 8, 100);
  const JudgedTrace judged(builder);
  EXPECT_TRUE(judged.findings(prefill_decode()).empty());
  EXPECT_EQ(judged.abstains(prefill_decode()), "");
}

TEST(PrefillDecode, AreNotToldByOneSmallProduct) {
  TraceBuilder builder;
  const std::int64_t at = products(builder, 0, 30, 512, 100);
  products(builder, at, 1, 1, 100);
  EXPECT_TRUE(JudgedTrace(builder).findings(prefill_decode()).empty());
}

TEST(PrefillDecode, AbstainWithoutShapes) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 100);
  EXPECT_NE(JudgedTrace(builder).abstains(prefill_decode()), "");
}

}  // namespace
}  // namespace fathom

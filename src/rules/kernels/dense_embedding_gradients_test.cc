#include <gtest/gtest.h>

#include "rules/common/claims.h"
#include "rules/common/rule_fixture.h"

namespace fathom {

Rule dense_embedding_gradients();

namespace {

constexpr std::string_view kTable = "[[10000,16]]";
constexpr std::string_view kTypes = R"(["float"])";

/// A step of 1000 ns on the processor: a table of 10,000 rows, of which `indices` are looked up;
/// its backward pass takes 300 ns, 200 of them fill, and the optimizer 400 ns.
TraceBuilder step(std::string_view indices, std::string_view optimizer) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  const std::string looked_up = "[[10000,16]," + std::string(indices) + ",[],[],[]]";
  builder.op("aten::embedding", 0, 50)
      .shapes(looked_up)
      .types(R"(["float","long int","Scalar","Scalar","Scalar"])")
      .sequence(1, 1);
  builder.op("aten::embedding_dense_backward", 200, 300)
      .shapes("[[4,16]," + std::string(indices) + ",[],[],[]]")
      .types(R"(["float","long int","Scalar","Scalar","Scalar"])")
      .concrete(R"(["","","10000","-1","False"])");
  builder.op("aten::zero_", 210, 200).shapes(kTable).types(kTypes);
  builder.annotation(optimizer, 550, 420);
  builder.op("aten::add_", 560, 400).shapes(kTable).types(kTypes);
  return builder;
}

TEST(DenseEmbeddingGradients, CountTheBackwardPassAndWhatChangesTheTable) {
  TraceBuilder builder = step("[500]", "Optimizer.step#Adam.step");
  const auto findings = JudgedTrace(builder).findings(dense_embedding_gradients());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(whole(findings[0].claims), duration_ns(700));
  // An index costs as much as four rows: a fifth is left.
  EXPECT_NEAR(static_cast<double>(to_ns(total(findings[0].claims))), 0.8 * 700, 2);
  EXPECT_NE(findings[0].fix.text.find("SparseAdam"), std::string::npos) << findings[0].fix.text;
  EXPECT_NE(findings[0].fix.text.find("results differ"), std::string::npos);
}

TEST(DenseEmbeddingGradients, WithPlainDescentResultsStayTheSame) {
  TraceBuilder builder = step("[500]", "Optimizer.step#SGD.step");
  const auto findings = JudgedTrace(builder).findings(dense_embedding_gradients());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].fix.text.find("results differ"), std::string::npos);
  EXPECT_EQ(findings[0].fix.after.find("SparseAdam"), std::string::npos);
}

TEST(DenseEmbeddingGradients, AreNothingWhereManyRowsAreLookedUp) {
  TraceBuilder builder = step("[4,400]", "Optimizer.step#SGD.step");
  EXPECT_TRUE(JudgedTrace(builder).findings(dense_embedding_gradients()).empty());
}

TEST(DenseEmbeddingGradients, AreNothingWhereTheTableIsMultipliedToo) {
  TraceBuilder builder = step("[500]", "Optimizer.step#SGD.step");
  builder.op("aten::mm", 100, 50).shapes("[[4,16],[16,10000]]").types(R"(["float","float"])");
  EXPECT_TRUE(JudgedTrace(builder).findings(dense_embedding_gradients()).empty());
}

TEST(DenseEmbeddingGradients, AbstainWithoutShapes) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.op("aten::embedding_dense_backward", 200, 300);
  EXPECT_NE(JudgedTrace(builder).abstains(dense_embedding_gradients()), "");
}

}  // namespace
}  // namespace fathom

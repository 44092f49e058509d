#include "engine/query/name_pattern.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

bool matches(const std::string& expression, std::string_view name) {
  const Result<NamePattern> pattern = NamePattern::parse(expression);
  return pattern.ok() && pattern->matches(name);
}

TEST(NamePattern, MatchesAnywhereInANameInAnyCase) {
  EXPECT_TRUE(matches("GEMM", "volta_sgemm_128x64_nn"));
  EXPECT_TRUE(matches("^aten::(mm|addmm)$", "aten::addmm"));
  EXPECT_FALSE(matches("^aten::mm$", "aten::addmm"));
}

TEST(NamePattern, LooksAtAViewThatEndsBeforeItsText) {
  const std::string_view text = "aten::mm_out";
  EXPECT_TRUE(matches("mm$", text.substr(0, 8)));
}

TEST(NamePattern, LooksAtTheFirstFourKibibytesOnly) {
  const std::string name = std::string(5000, 'a') + "gemm";
  EXPECT_FALSE(matches("gemm", name));
  EXPECT_TRUE(matches("^a", name));
}

TEST(NamePattern, RefusesWhatIsNoExpressionAndSaysWhy) {
  const Result<NamePattern> pattern = NamePattern::parse("gemm(");
  ASSERT_FALSE(pattern.ok());
  EXPECT_EQ(pattern.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(pattern.error().message.find("'gemm(' is not a regular expression"), std::string::npos);
}

}  // namespace
}  // namespace fathom

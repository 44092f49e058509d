#include "compare/result_argument.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(ResultArgument, TheLastElementIsCutOff) {
  EXPECT_EQ(without_last("[[2,3],[3],[2]]"), "[[2,3],[3]]");
  EXPECT_EQ(without_last("[[2,3],[]]"), "[[2,3]]");
  EXPECT_EQ(without_last(R"(["float","a,]b","c10::Half"])"), R"(["float","a,]b"])");
  EXPECT_EQ(without_last("[[[2],[3]],[[4],[5]]]"), "[[[2],[3]]]");
  EXPECT_EQ(without_last("[[2]]"), "[]");
  EXPECT_EQ(without_last("[]"), "[]");
  EXPECT_EQ(without_last(""), "");
}

TEST(ResultArgument, OneArgumentMoreAtTheEndIsTheResult) {
  EXPECT_TRUE(same_but_result("[[2],[2,3]]", "[[2],[2,3],[4]]"));
  EXPECT_TRUE(same_but_result(R"(["float","Scalar","float"])", R"(["float","Scalar"])"));
  EXPECT_FALSE(same_but_result("[[2],[2,3]]", "[[2],[2,3]]"));
  EXPECT_FALSE(same_but_result("[[2],[2,3]]", "[[9],[2,3],[4]]"));
  EXPECT_FALSE(same_but_result("[[2]]", "[[2],[2,3],[4]]"));
}

TEST(ResultArgument, IsATensor) {
  EXPECT_TRUE(ends_with_tensor("[[2],[2,3]]"));
  EXPECT_FALSE(ends_with_tensor("[[2],[]]"));
  EXPECT_FALSE(ends_with_tensor("[]"));
}

}  // namespace
}  // namespace fathom

// Canonical JSON lists taken apart.
#include "analysis/util/json_list.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

using Texts = std::vector<std::string_view>;

TEST(JsonList, SplitsListsAndKeepsNestedOnesWhole) {
  EXPECT_EQ(json_elements("[[512,3],[],7]"), (Texts{"[512,3]", "[]", "7"}));
  EXPECT_EQ(json_elements("[]"), Texts());
  EXPECT_EQ(json_elements(""), Texts());
  EXPECT_EQ(json_elements("{}"), Texts());
}

TEST(JsonList, CommasAndBracketsInStringsDoNotCount) {
  EXPECT_EQ(json_elements(R"(["[1, 1]","a\"]",""])"), (Texts{R"("[1, 1]")", R"("a\"]")", R"("")"}));
  EXPECT_EQ(json_unquoted(R"("[1, 1]")"), "[1, 1]");
}

TEST(JsonList, ReadsIntegersOnly) {
  EXPECT_EQ(json_integers("[1, -2,3]"), (std::vector<std::int64_t>{1, -2, 3}));
  EXPECT_EQ(json_integers("[]"), std::vector<std::int64_t>());
  EXPECT_EQ(json_integers("[[1]]"), std::nullopt);
  EXPECT_EQ(json_integers("same"), std::nullopt);
  EXPECT_EQ(json_integers("[1.5]"), std::nullopt);
}

TEST(JsonList, PrintsShapesAsTorchDoes) {
  EXPECT_EQ(flat_shapes("[[512,3],[]]"), "[[512, 3], []]");
  EXPECT_EQ(flat_shapes("[[[2,3],[4]],[]]"), "[[], []]");
  EXPECT_EQ(flat_shapes(""), "[]");
  EXPECT_EQ(flat_shapes("[]"), "[]");
}

}  // namespace
}  // namespace fathom

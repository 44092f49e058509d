#include "render/tree_text.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

using Paths = std::vector<std::string>;

Paths indented(Paths paths) {
  indent_tree(paths);
  return paths;
}

TEST(IndentTree, ShowsTheLastPartBelowItsParent) {
  EXPECT_EQ(
      indented({"Net_0", "Net_0/Block_0", "Net_0/Block_0/Linear_0", "Net_0/Linear_0", "Net_1"}),
      (Paths{"Net_0", "  Block_0", "    Linear_0", "  Linear_0", "Net_1"}));
}

TEST(IndentTree, KeepsPartsWithoutARow) {
  EXPECT_EQ(indented({"Net_0", "Net_0/Block_0/Linear_0"}), (Paths{"Net_0", "  Block_0/Linear_0"}));
  EXPECT_EQ(indented({"Net_0/Block_0"}), (Paths{"Net_0/Block_0"}));
}

TEST(IndentTree, LeavesRowsInAnotherOrderAlone) {
  const Paths sorted = {"Net_0/Linear_0", "Net_0", "Net_0/Block_0"};
  EXPECT_EQ(indented(sorted), sorted);
}

}  // namespace
}  // namespace fathom

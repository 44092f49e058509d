#include "analysis/util/needle_set.h"

#include <string>

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::vector<std::uint32_t> find_all(std::initializer_list<std::string_view> needles,
                                    std::string_view text) {
  std::vector<std::uint32_t> found;
  const std::vector<std::string_view> list(needles);
  NeedleSet(list).scan(text, [&](std::uint32_t needle) { found.push_back(needle); });
  return found;
}

TEST(NeedleSet, FindsEachOccurrenceInOrderOfItsEnd) {
  EXPECT_EQ(find_all({"he", "she", "hers"}, "ushers"), (std::vector<std::uint32_t>{1, 0, 2}));
}

TEST(NeedleSet, IgnoresCase) {
  EXPECT_EQ(find_all({"gemm"}, "cutlass::GEMM"), std::vector<std::uint32_t>{0});
}

TEST(NeedleSet, FindsANeedleInsideAnotherAndEqualNeedles) {
  EXPECT_EQ(find_all({"abcd", "bc", "bc"}, "abcd").size(), 3U);
}

TEST(NeedleSet, PassesCharactersOfNoNeedle) {
  EXPECT_EQ(find_all({"ab"}, "a\xff\x80 b ab"), std::vector<std::uint32_t>{0});
  EXPECT_TRUE(find_all({"", "x"}, "yyy").empty());
}

}  // namespace
}  // namespace fathom

// Values of several runs.
#include "base/distinct_texts.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(DistinctTexts, AreAscendingNumbersFirst) {
  std::vector<std::string> texts;
  for (const char* const text : {"10", "b", "9", "", "a", "10", "-1", "100"})
    add_distinct(texts, text);
  EXPECT_EQ(texts, (std::vector<std::string>{"9", "10", "100", "", "-1", "a", "b"}));
}

TEST(DistinctTexts, AreOneLine) {
  EXPECT_EQ(comma_separated(std::vector<std::string>{"1", "2"}), "1, 2");
  EXPECT_EQ(comma_separated({}), "");
}

}  // namespace
}  // namespace fathom

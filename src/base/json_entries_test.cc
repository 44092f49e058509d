#include "base/json_entries.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(JsonEntries, HaveTheTextsOfEachObject) {
  const std::vector<JsonEntry> found =
      json_entries(R"([{"what": "lines", "why": "a \"b\"", "n": 3}, 7, {}, {"what": null}])");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], (JsonEntry{{"what", "lines"}, {"why", "a \"b\""}}));
  EXPECT_TRUE(found[1].empty());
  EXPECT_TRUE(found[2].empty());
}

TEST(JsonEntries, AreNotInWhatIsNoList) {
  for (const char* const text : {"", "{", "{}", "\"text\"", "[{", "[1", "null", "[]"})
    EXPECT_TRUE(json_entries(text).empty()) << text;
}

}  // namespace
}  // namespace fathom

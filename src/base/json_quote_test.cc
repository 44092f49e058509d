#include "base/json_quote.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(JsonQuote, EscapesWhatAJsonStringMayNotHold) {
  EXPECT_EQ(json_quoted(""), "\"\"");
  EXPECT_EQ(json_quoted("a \"b\" \\ \xC3\xA9"), "\"a \\\"b\\\" \\\\ \xC3\xA9\"");
  EXPECT_EQ(json_quoted("\n\x1b"), "\"\\u000a\\u001b\"");
}

}  // namespace
}  // namespace fathom

#include "capture/launcher/json.h"

#include <gtest/gtest.h>

namespace fathom::capture {
namespace {

TEST(Json, TextsAreEscapedAndInvalidBytesReplaced) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
  EXPECT_EQ(json_string("ä€😀"), "\"ä€😀\"");
  EXPECT_EQ(json_string("x\xff\xc3"), "\"x\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(json_string("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(Json, NestsWithoutStrayCommas) {
  Json json(false);
  json.object()
      .key("a")
      .array()
      .end()
      .key("b")
      .object()
      .end()
      .key("c")
      .array()
      .number(1)
      .null()
      .end();
  EXPECT_EQ(json.end().str(), R"({"a": [], "b": {}, "c": [1, null]})");
}

TEST(Json, NumbersLoseTrailingZerosOnly) {
  Json json(false);
  json.array().real(1.5).real(0).real(100).real(1.0 / 3).end();
  EXPECT_EQ(json.str(), "[1.5, 0, 100, 0.333333]");
}

}  // namespace
}  // namespace fathom::capture

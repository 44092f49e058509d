#include "base/json_writer.h"

#include <limits>

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// What `write` writes.
template <typename Write>
std::string written(const Write& write, const JsonLayout& layout = kJsonInline,
                    std::string_view indent = {}) {
  std::string out;
  JsonWriter json(out, layout, indent);
  write(json);
  return out;
}

TEST(JsonWriter, TextsAreEscapedAndInvalidBytesReplaced) {
  EXPECT_EQ(json_string(""), "\"\"");
  EXPECT_EQ(json_string("a\"b\\c\n\t\r\x01\x7f"), R"("a\"b\\c\n\t\u000d\u0001\u007f")");
  EXPECT_EQ(json_string("ä€😀"), "\"ä€😀\"");
  EXPECT_EQ(json_string("x\xff\xc3"), R"("x\ufffd\ufffd")");
}

TEST(JsonWriter, CanonicalTextsHaveOneForm) {
  EXPECT_EQ(json_string("\b\t\n\f\r\x1b\x7f\"\\/é", JsonEscapes::canonical),
            "\"\\b\\t\\n\\f\\r\\u001b\x7f\\\"\\\\/é\"");
}

TEST(JsonWriter, NestsWithoutStrayCommas) {
  EXPECT_EQ(written([](JsonWriter& json) {
              json.object().key("a").array().end().key("b").object().end().key("c").array();
              json.integer(1).null().boolean(true).text("x").end().end();
            }),
            R"({"a": [], "b": {}, "c": [1, null, true, "x"]})");
}

TEST(JsonWriter, LinesAreIndentedByTheirDepth) {
  const auto write = [](JsonWriter& json) {
    json.object().member("a", 1).key("b").array();
    json.object(kJsonInline).member("c", 2).member("d", 3).end();
    json.object(kJsonCompact).member("e", 4).member("f", 5).end();
    json.end().key("g").array().end().end();
  };
  EXPECT_EQ(
      written(write, kJsonLines, ">"),
      "{\n>  \"a\": 1,\n>  \"b\": [\n>    {\"c\": 2, \"d\": 3},\n>    {\"e\":4,\"f\":5}\n>  ],"
      "\n>  \"g\": []\n>}");
}

TEST(JsonWriter, NumbersAreAsShortAsTheyCanBeReadBack) {
  EXPECT_EQ(written([](JsonWriter& json) {
              json.array().real(0.1).real(1e300).real(-2).value(std::optional<double>());
              json.real(std::numeric_limits<double>::quiet_NaN());
              json.integer(INT64_MIN).integer(UINT64_MAX).end();
            }),
            "[0.1, 1e+300, -2, null, null, -9223372036854775808, 18446744073709551615]");
}

TEST(JsonWriter, RoundedNumbersLoseTrailingZerosOnly) {
  EXPECT_EQ(written([](JsonWriter& json) {
              json.array().rounded(1.5).rounded(0).rounded(100).rounded(1.0 / 3).end();
            }),
            "[1.5, 0, 100, 0.333333]");
}

}  // namespace
}  // namespace fathom

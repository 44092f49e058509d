// Strings decoded, damage named, nested values made canonical.
#include "formats/chrome/text_cache.h"

#include <gtest/gtest.h>

namespace fathom::chrome {
namespace {

std::string decoded(std::string_view inside) {
  std::string out;
  const StringDamage damage = decode_string(inside, out);
  EXPECT_FALSE(damage.invalid_escape || damage.control_character || damage.invalid_utf8) << inside;
  return out;
}

TEST(DecodeString, ResolvesEscapes) {
  EXPECT_EQ(decoded(R"(a\"b\\c\/d\n\t\r\b\f)"), "a\"b\\c/d\n\t\r\b\f");
  EXPECT_EQ(decoded(R"(\u0041\u00e9\u20ac)"), "A\u00e9\u20ac");
  EXPECT_EQ(decoded(R"(\ud83d\ude00)"), "\U0001F600");
}

TEST(DecodeString, KeepsWhatIsNoEscape) {
  std::string out;
  EXPECT_TRUE(decode_string(R"(C:\Users\me)", out).invalid_escape);
  EXPECT_EQ(out, R"(C:\Users\me)");
  EXPECT_TRUE(decode_string(R"(\u12)", out).invalid_escape);
  EXPECT_EQ(out, R"(\u12)");
  EXPECT_TRUE(decode_string(R"(\ud83d)", out).invalid_escape);
  EXPECT_EQ(out, "\ufffd");
}

TEST(DecodeString, NamesControlCharactersAndBadUtf8) {
  std::string out;
  EXPECT_TRUE(decode_string("a\nb", out).control_character);
  EXPECT_EQ(out, "a\nb");
  EXPECT_TRUE(decode_string("a\xff\xc3", out).invalid_utf8);
  EXPECT_EQ(out, "a\ufffd\ufffd");
}

TEST(CanonicalJson, DropsSpaceOutsideStringsOnly) {
  std::string out;
  canonical_json(" [ [512, 3],\n [ ], \"a b\" ] ", out);
  EXPECT_EQ(out, R"([[512,3],[],"a b"])");
}

TEST(CanonicalJson, WritesEachStringInOneWay) {
  std::string out;
  canonical_json(R"(["\u0041\/", "\t"])", out);
  EXPECT_EQ(out, R"(["A/","\t"])");
}

TEST(ThreadStrings, GivesOneIdToOneText) {
  StringPool pool;
  ThreadStrings strings(pool);
  const StringId id = strings.intern("aten::mm");
  EXPECT_EQ(strings.intern("aten::mm"), id);
  EXPECT_EQ(strings.intern_json(" [1, 2]"), strings.intern_json("[1,2]"));
  EXPECT_EQ(pool.view(strings.intern_json("[1, 2]")), "[1,2]");
}

TEST(ThreadStrings, SurvivesMoreTextsThanItsCachesHold) {
  StringPool pool;
  ThreadStrings strings(pool);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20000; ++i) {
      const std::string text = "name " + std::to_string(i);
      ASSERT_EQ(pool.view(strings.intern(text)), text);
      ASSERT_EQ(pool.view(strings.intern_json("[ \"" + text + "\" ]")), "[\"" + text + "\"]");
    }
  }
}

}  // namespace
}  // namespace fathom::chrome

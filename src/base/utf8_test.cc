#include "base/utf8.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Utf8, DecodesEveryLengthAndRefusesWhatIsNotUtf8) {
  EXPECT_EQ(decode_utf8("a").code, U'a');
  EXPECT_EQ(decode_utf8("éa").code, U'é');
  EXPECT_EQ(decode_utf8("€").bytes, 3U);
  EXPECT_EQ(decode_utf8("😀").code, U'😀');
  for (const char* const bad : {"\xff", "\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                                "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"}) {
    EXPECT_FALSE(decode_utf8(bad).valid);
    EXPECT_EQ(decode_utf8(bad).bytes, 1U);
  }
}

TEST(Utf8, EncodesWhatItDecodes) {
  for (const char32_t code :
       {U'a', U'\x7f', U'\x80', U'\u07ff', U'\u0800', U'\uffff', U'\U00010000', U'\U0010ffff'}) {
    std::string text;
    append_utf8(text, code);
    EXPECT_EQ(decode_utf8(text).code, code);
    EXPECT_EQ(decode_utf8(text).bytes, text.size());
  }
  std::string text;
  append_utf8(text, 0xd800);
  append_utf8(text, 0x110000);
  EXPECT_EQ(text, "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8, IsCutBetweenCharacters) {
  EXPECT_EQ(cut_utf8("abc", 3), "abc");
  EXPECT_EQ(cut_utf8("abc", 2), "ab");
  EXPECT_EQ(cut_utf8("aé", 2), "a");
  EXPECT_EQ(cut_utf8("😀😀", 7), "😀");
  EXPECT_EQ(cut_utf8("\x80\x80\x80\x80\x80\x80", 5), "\x80");
}

TEST(Utf8, IsRepairedByteByByte) {
  EXPECT_EQ(valid_utf8("ä€😀"), "ä€😀");
  EXPECT_EQ(valid_utf8("a\xff\xc3z\xed\xa0\x80"),
            "a\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_FALSE(is_utf8("a\xff"));
}

}  // namespace
}  // namespace fathom

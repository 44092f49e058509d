#include "render/text_width.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(TextWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("µs"), 2U);
  EXPECT_EQ(display_width("核函数"), 6U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("🔥"), 2U);
  EXPECT_EQ(display_width("\xff\xc3"), 2U);
}

TEST(TextWidth, MakesControlCharactersVisible) {
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a␊b␛[31m␡");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");
}

TEST(TextWidth, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(printable("a\xff\xc0\x80z"), "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(printable("\xed\xa0\x80").size(), 9U) << "surrogates are not characters";
}

TEST(TextWidth, LeavesOutMarksThatReorderText) { EXPECT_EQ(printable("a\u202Eb\u2066c"), "abc"); }

TEST(TextWidth, ShortensInTheMiddle) {
  EXPECT_EQ(shorten_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shorten_middle("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(shorten_middle("abcdefghij", 6), "abc…ij");
  EXPECT_EQ(shorten_middle("abcdefghij", 1), "…");
  EXPECT_EQ(shorten_middle("abcdefghij", 0), "");
}

TEST(TextWidth, ShortensAtTheEnd) {
  EXPECT_EQ(shorten_end("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shorten_end("abcdefghij", 7), "abcdef…");
  EXPECT_EQ(shorten_end("核函数", 5), "核函…");
  EXPECT_EQ(shorten_end("核函数", 4), "核…");
  EXPECT_EQ(shorten_end("abcdefghij", 1), "…");
  EXPECT_EQ(shorten_end("abcdefghij", 0), "");
}

TEST(TextWidth, NeverCutsACharacterInHalf) {
  const std::string text = "核函数核函数";
  for (std::size_t width = 0; width <= 12; ++width) {
    const std::string shown = shorten_middle(text, width);
    EXPECT_LE(display_width(shown), width);
    EXPECT_EQ(printable(shown), shown);
  }
}

TEST(TextWidth, PadsByColumns) {
  EXPECT_EQ(pad_right("µs", 4), "µs  ");
  EXPECT_EQ(pad_left("核", 4), "  核");
  EXPECT_EQ(pad_left("long", 2), "long");
}

TEST(TextWidth, WrapsAtBlanksAndBreaksOnlyWhatIsTooLong) {
  EXPECT_EQ(wrap("one two three", 8, "> "), "one two\n> three");
  EXPECT_EQ(wrap("abcdefghijkl m", 8, ""), "abcdefgh\nijkl m");
  EXPECT_EQ(wrap("", 8, ""), "");
  EXPECT_LT(wrap(std::string(100'000, 'n'), 8, "").size(), 1200U);
}

TEST(TextWidth, WrapsNoNumberFromItsUnit) {
  EXPECT_EQ(wrap("it takes 97.3 % of the step", 14, ""), "it takes\n97.3 % of the\nstep");
  EXPECT_EQ(wrap("saves 42.12 ms, then 3 µs)", 11, ""), "saves\n42.12 ms,\nthen 3 µs)");
  EXPECT_EQ(wrap("count of 12 steps", 11, ""), "count of 12\nsteps");
  EXPECT_EQ(wrap("ends in 12 ", 10, ""), "ends in 12");
}

}  // namespace
}  // namespace fathom

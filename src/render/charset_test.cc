#include "render/charset.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Charset, LeavesTextAsItIsWhereTheLocaleIsUtf8) {
  EXPECT_EQ(in_charset("12 µs → █", {}), "12 µs → █");
}

TEST(Charset, ReplacesWhatIsNotAsciiByAsMuchRoom) {
  Style style;
  style.ascii = true;
  EXPECT_EQ(in_charset("12 µs − █▓ 界", style), "12 us - #= ??");
  EXPECT_EQ(in_charset("broken \xff", style), "broken ?");
}

}  // namespace
}  // namespace fathom

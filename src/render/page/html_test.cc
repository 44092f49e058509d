#include "render/page/html.h"

#include <gtest/gtest.h>

namespace fathom::page {
namespace {

TEST(PageHtml, EscapesWhatHtmlReads) {
  EXPECT_EQ(escaped("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
}

TEST(PageHtml, ShowsControlCharacters) { EXPECT_EQ(escaped("a\x1b\nb"), "a␛␊b"); }

TEST(PageHtml, KeepsLinesWhereAsked) { EXPECT_EQ(escaped_lines("<a>\nb\n"), "&lt;a&gt;\nb"); }

TEST(PageHtml, ShortensWhatNobodyReads) {
  EXPECT_LT(escaped(std::string(100'000, 'x')).size(), 2 * kLongestText);
}

}  // namespace
}  // namespace fathom::page

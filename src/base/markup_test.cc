#include "base/markup.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Markup, EscapesWhatMarkupReads) {
  EXPECT_EQ(markup_escaped("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
}

TEST(Markup, LeavesTheRestAsItIs) {
  EXPECT_EQ(markup_escaped(""), "");
  EXPECT_EQ(markup_escaped("ä – \n`&amp;`"), "ä – \n`&amp;amp;`");
}

}  // namespace
}  // namespace fathom

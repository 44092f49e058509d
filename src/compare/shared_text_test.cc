#include "compare/shared_text.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(SharedText, CopiesShareWhatIsStored) {
  const SharedText text = std::string("aten::mm");
  SharedText copy = text;
  EXPECT_EQ(copy.view().data(), text.view().data());
  copy = SharedText("aten::bmm");
  EXPECT_EQ(text.view(), "aten::mm");
  const SharedText moved = std::move(copy);
  EXPECT_EQ(moved.view(), "aten::bmm");
}

TEST(SharedText, IsEqualToTheSameTextOfAnother) {
  EXPECT_TRUE(SharedText("a") == SharedText(std::string("a")));
  EXPECT_TRUE(SharedText("a") == "a");
  EXPECT_TRUE(SharedText("a") < SharedText("ab"));
  EXPECT_TRUE(SharedText("b") > SharedText("ab"));
  EXPECT_FALSE(SharedText("a") == SharedText());
}

TEST(SharedText, OfNothingIsEmpty) {
  EXPECT_TRUE(SharedText("").empty());
  EXPECT_TRUE(SharedText() == SharedText(""));
  EXPECT_EQ(SharedText().str(), "");
}

}  // namespace
}  // namespace fathom

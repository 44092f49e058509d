#include "base/base64.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Base64, ExamplesOfTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, BytesAboveSevenBits) {
  EXPECT_EQ(base64(std::string_view("\xff\xfe\x00\x80", 4)), "//4AgA==");
}

}  // namespace
}  // namespace fathom

#include "base/digit_groups.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(DigitGroups, AreOfThree) {
  EXPECT_EQ(grouped(0U), "0");
  EXPECT_EQ(grouped(999U), "999");
  EXPECT_EQ(grouped(1000U), "1,000");
  EXPECT_EQ(grouped(12345678U), "12,345,678");
}

}  // namespace
}  // namespace fathom

#include "base/base_name.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(BaseName, IsWhatStandsBehindTheLastSlash) {
  EXPECT_EQ(base_name("/usr/bin/python3"), "python3");
  EXPECT_EQ(base_name("work.py"), "work.py");
  EXPECT_EQ(base_name("folder/"), "");
  EXPECT_EQ(base_name(""), "");
}

}  // namespace
}  // namespace fathom

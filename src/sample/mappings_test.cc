#include "sample/mappings.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <unistd.h>

namespace fathom::sample {
namespace {

TEST(Mappings, ALineSaysWhereWhatOfWhichFileLies) {
  const auto mappings = parse_mappings(
      "7f0000001000-7f0000003000 r-xp 00002000 08:01 1234    /usr/lib/lib x.so (deleted)\n"
      "7ffd00000000-7ffd00001000 rw-p 00000000 00:00 0 \n");
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_EQ(mappings[0].begin, 0x7f0000001000U);
  EXPECT_EQ(mappings[0].end, 0x7f0000003000U);
  EXPECT_EQ(mappings[0].offset, 0x2000U);
  EXPECT_TRUE(mappings[0].readable);
  EXPECT_FALSE(mappings[0].writable);
  EXPECT_EQ(mappings[0].path, "/usr/lib/lib x.so (deleted)");
  EXPECT_TRUE(mappings[1].writable);
  EXPECT_EQ(mappings[1].path, "");
}

TEST(Mappings, WhatIsNoLineIsLeftOut) {
  EXPECT_TRUE(parse_mappings("").empty());
  EXPECT_TRUE(parse_mappings("\n\nabc\n1-2\n2-1 rw-p 0 0:0 0\n-- r\n").empty());
  EXPECT_EQ(parse_mappings("1-2 rw-p 0 ").size(), 1U);
}

TEST(Mappings, AllOfThisProcessAreRead) {
  int error = 0;
  const auto mappings = read_mappings(getpid(), error);
  ASSERT_TRUE(mappings);
  const auto here = reinterpret_cast<Address>(&error);
  EXPECT_TRUE(std::ranges::any_of(*mappings, [here](const Mapping& mapping) {
    return here >= mapping.begin && here < mapping.end && mapping.path == "[stack]";
  }));
  EXPECT_FALSE(read_mappings(-1, error));
  EXPECT_NE(error, 0);
}

}  // namespace
}  // namespace fathom::sample

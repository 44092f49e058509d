#include "capture/system/proc.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "wire/writer.h"

namespace fathom::capture {
namespace {

TEST(Proc, ANameMayHoldBracketsAndBlanks) {
  const auto stat = parse_stat(
      "42 (a) b (c)) Z 7 1 1 0 -1 0 0 0 0 0 150 50 10 5 20 0 1 0 12345 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
      "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 256\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) b (c)");
  EXPECT_EQ(stat->state, 'Z');
  EXPECT_EQ(stat->parent, 7);
  // With the children that it has waited for.
  EXPECT_EQ(stat->user, 1'600'000'000);
  EXPECT_EQ(stat->system, 550'000'000);
  EXPECT_EQ(stat->status, 256);
}

TEST(Proc, NonsenseIsNoProcess) {
  for (const char* text : {"", "42", "42 (a", "42 (a)"}) EXPECT_FALSE(parse_stat(text)) << text;
}

TEST(Proc, ThisProcessIsSeenAsItIs) {
  const auto stat = read_stat(getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, getppid());
  EXPECT_LT(stat->started, wire::monotonic_ns());
  EXPECT_GT(read_peak(getpid()), 0);
  EXPECT_FALSE(read_command(getpid()).empty());
  EXPECT_FALSE(read_stat(-5));
}

}  // namespace
}  // namespace fathom::capture

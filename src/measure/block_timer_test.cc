// A block is timed from before its first call until after its last.
#include "measure/block_timer.h"

#include <vector>

#include <gtest/gtest.h>

namespace fathom::measure {
namespace {

TEST(WallTimer, ABlockIsFarLongerThanItsCost) {
  const BlockTimer timer = wall_timer();
  EXPECT_EQ(timer.mode, "wall");
  EXPECT_GT(timer.cost, Duration{});
  EXPECT_GE(timer.least, 1000 * timer.cost);
  EXPECT_GE(timer.least, std::chrono::microseconds(20));
}

TEST(WallTimer, CallsTheBlockOnceAndTimesIt) {
  std::vector<std::size_t> asked;
  const auto ns = wall_timer().time(
      [&](std::size_t calls) {
        asked.push_back(calls);
        return true;
      },
      17);
  ASSERT_TRUE(ns);
  EXPECT_GE(*ns, 0);
  EXPECT_EQ(asked, std::vector<std::size_t>{17});
}

TEST(WallTimer, ABlockThatStopsHasNoTime) {
  EXPECT_FALSE(wall_timer().time([](std::size_t) { return false; }, 1));
}

TEST(WallTimer, WaitsForTheDeviceBeforeAndWithinTheBlock) {
  std::vector<std::string> order;
  const BlockTimer timer = wall_timer([&] {
    order.emplace_back("settle");
    return true;
  });
  EXPECT_TRUE(timer.time(
      [&](std::size_t) {
        order.emplace_back("block");
        return true;
      },
      1));
  EXPECT_EQ(order, (std::vector<std::string>{"settle", "block", "settle"}));
}

TEST(WallTimer, ADeviceThatFailsHasNoTime) {
  EXPECT_FALSE(wall_timer([] { return false; }).time([](std::size_t) { return true; }, 1));
}

}  // namespace
}  // namespace fathom::measure

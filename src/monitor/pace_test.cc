#include "monitor/pace.h"

#include <gtest/gtest.h>

namespace fathom::monitor {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Pace, DoesNotDriftWithLateness) {
  Pace pace(1000, 100);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(pace.meet(pace.deadline() + 60), i);
  EXPECT_EQ(pace.deadline(), 1000 + 1000 * 100);
  EXPECT_EQ(pace.missed(), 0U);
}

TEST(Pace, CountsWhatItCouldNotMeetAndGoesOn) {
  Pace pace(0, 100);
  EXPECT_EQ(pace.meet(0), 0U);
  EXPECT_EQ(pace.meet(450), 4U);  // 100, 200 and 300 have passed
  EXPECT_EQ(pace.missed(), 3U);
  EXPECT_EQ(pace.deadline(), 500);
}

TEST(Pace, DoesNotCountWhatItSkipsOnPurpose) {
  Pace pace(0, 100);
  pace.meet(0);
  pace.skip(4);
  EXPECT_EQ(pace.deadline(), 500);
  EXPECT_EQ(pace.meet(500), 5U);
  EXPECT_EQ(pace.missed(), 0U);
}

TEST(CostLimit, SamplesLessOftenAboveItsBudgetAndMoreOftenAgain) {
  CostLimit cost_limit(0.005, 10);
  EXPECT_EQ(cost_limit.stride(1 * kSecond, 1 * kSecond), 1U);  // too early to know
  EXPECT_EQ(cost_limit.stride(2 * kSecond, 4 * kSecond), 2U);
  EXPECT_EQ(cost_limit.stride(3 * kSecond, 8 * kSecond), 4U);
  EXPECT_EQ(cost_limit.stride(4 * kSecond, 12 * kSecond), 8U);
  EXPECT_EQ(cost_limit.stride(5 * kSecond, 16 * kSecond), 10U);
  EXPECT_EQ(cost_limit.stride(5 * kSecond + 1, 20 * kSecond), 5U);
}

}  // namespace
}  // namespace fathom::monitor

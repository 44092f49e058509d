#include "analysis/samples/wait_spots.h"

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Two threads wait for a socket at two lines; one sleeps; one without Python waits for a pipe.
Trace waiting() {
  Trace trace;
  SampleBuilder(trace)
      .at("main app.py 1;fetch app.py 5")
      .waits("file", 30, "socket:[7]")
      .runs(3)
      .thread(1, 2)
      .at("run app.py 9;fetch app.py 6")
      .waits("file", 50, "socket:[7]")
      .waits("sleep", 40)
      .thread(2, 2, "sort")
      .at("")
      .waits("file", 5, "pipe:[8]");
  return trace;
}

TEST(WaitSpots, EachPlaceIsARowAndTheySumToTheBlockedTime) {
  const Trace trace = waiting();
  const auto spots = wait_spots(trace, StackRoles(trace), WaitBy::place);
  ASSERT_EQ(spots.size(), 4U);
  EXPECT_EQ(spots[0].wait, WaitClass::file);
  EXPECT_EQ(trace.stack_frames[spots[0].frame].line, 6);
  EXPECT_EQ(to_ns(spots[0].blocked), 50 * kMs);
  EXPECT_EQ(spots[1].wait, WaitClass::sleep);
  EXPECT_EQ(trace.text(spots[1].object), "");
  EXPECT_EQ(spots[3].frame, kNoFrame);
  EXPECT_EQ(trace.text(spots[3].thread), "sort");
  Duration sum{};
  for (const WaitSpot& spot : spots) sum += spot.blocked;
  EXPECT_EQ(to_ns(sum), 125 * kMs);
}

TEST(WaitSpots, AnObjectHasAllThatWaitForItAndTheLongestPlace) {
  const Trace trace = waiting();
  const auto spots = wait_spots(trace, StackRoles(trace), WaitBy::object);
  ASSERT_EQ(spots.size(), 3U);
  EXPECT_EQ(trace.text(spots[0].object), "socket:[7]");
  EXPECT_EQ(to_ns(spots[0].blocked), 80 * kMs);
  EXPECT_EQ(spots[0].threads, 2U);
  EXPECT_EQ(spots[0].samples, 2U);
  EXPECT_EQ(trace.stack_frames[spots[0].frame].line, 6);
}

TEST(WaitSpots, ByCauseObjectsThatDifferHaveNoName) {
  const Trace trace = waiting();
  const auto spots = wait_spots(trace, StackRoles(trace), WaitBy::cause);
  ASSERT_EQ(spots.size(), 2U);
  EXPECT_EQ(spots[0].wait, WaitClass::file);
  EXPECT_EQ(to_ns(spots[0].blocked), 85 * kMs);
  EXPECT_EQ(spots[0].threads, 3U);
  EXPECT_EQ(trace.text(spots[0].object), "");
}

TEST(WaitSpots, OfThreadsThatNeverWaitedThereAreNone) {
  Trace trace;
  SampleBuilder(trace).at("main app.py 1").runs(30);
  EXPECT_TRUE(wait_spots(trace, StackRoles(trace), WaitBy::place).empty());
}

}  // namespace
}  // namespace fathom

#include "analysis/samples/hot_spots.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(HotSpots, OwnTimesSumToTheProcessorTime) {
  Trace trace;
  SampleBuilder(trace)
      .thread(1, 1)
      .at("main app.py 1;work app.py 5")
      .runs(30)
      .at("main app.py 2")
      .runs(10)
      .waits("sleep", 500)
      .thread(1, 2, "native")
      .at("")
      .runs(7);
  const HotSpots hot = hot_spots(trace, SpotBy::function);
  EXPECT_EQ(to_ns(hot.on_cpu), 47 * kMs);
  EXPECT_EQ(to_ns(hot.outside), 7 * kMs);
  EXPECT_EQ(hot.samples, 3U);
  ASSERT_EQ(hot.spots.size(), 2U);
  EXPECT_EQ(trace.text(hot.spots[0].function), "work");
  EXPECT_EQ(to_ns(hot.spots[0].self), 30 * kMs);
  EXPECT_EQ(to_ns(hot.spots[0].total), 30 * kMs);
  EXPECT_EQ(trace.text(hot.spots[1].function), "main");
  EXPECT_EQ(to_ns(hot.spots[1].self), 10 * kMs);
  EXPECT_EQ(to_ns(hot.spots[1].total), 40 * kMs);
  EXPECT_EQ(to_ns(hot.spots[1].blocked), 500 * kMs);
  EXPECT_EQ(hot.spots[1].samples, 1U);
}

TEST(HotSpots, OfARecursionTheTotalCountsOnce) {
  Trace trace;
  SampleBuilder(trace).at("f app.py 1;f app.py 1;f app.py 2").runs(8);
  const HotSpots hot = hot_spots(trace, SpotBy::function);
  ASSERT_EQ(hot.spots.size(), 1U);
  EXPECT_EQ(to_ns(hot.spots[0].self), 8 * kMs);
  EXPECT_EQ(to_ns(hot.spots[0].total), 8 * kMs);
  EXPECT_EQ(hot.spots[0].line, 2);
}

TEST(HotSpots, ATotalHasAllStacksBelowTheOutermost) {
  Trace trace;
  SampleBuilder(trace)
      .at("main app.py 1;f app.py 3;g app.py 7;f app.py 4")
      .runs(8)
      .at("main app.py 1;f app.py 3;h app.py 9")
      .runs(5)
      .at("main app.py 1;g app.py 7;f app.py 3")
      .runs(3);
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> found;
  for (const HotSpot& spot : hot_spots(trace, SpotBy::function).spots)
    found[std::string(trace.text(spot.function))] = {to_ns(spot.self) / kMs,
                                                     to_ns(spot.total) / kMs};
  EXPECT_EQ(found["main"], std::pair(std::int64_t{0}, std::int64_t{16}));
  EXPECT_EQ(found["f"], std::pair(std::int64_t{11}, std::int64_t{16}));
  EXPECT_EQ(found["g"], std::pair(std::int64_t{0}, std::int64_t{11}));
  EXPECT_EQ(found["h"], std::pair(std::int64_t{5}, std::int64_t{5}));
}

TEST(HotSpots, ByLineEachLineIsARow) {
  Trace trace;
  SampleBuilder(trace).at("f app.py 1").runs(8).at("f app.py 2").runs(3);
  const HotSpots hot = hot_spots(trace, SpotBy::line);
  ASSERT_EQ(hot.spots.size(), 2U);
  EXPECT_EQ(hot.spots[0].line, 1);
  EXPECT_EQ(hot.spots[1].line, 2);
  EXPECT_EQ(to_ns(hot.spots[1].self), 3 * kMs);
}

}  // namespace
}  // namespace fathom

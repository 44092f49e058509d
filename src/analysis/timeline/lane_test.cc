#include "analysis/timeline/lane.h"

#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

/// A lane of random slices, some without a duration, some touching.
Trace random_trace(std::size_t slices, unsigned seed) {
  std::mt19937 random(seed);
  TraceBuilder builder;
  std::int64_t at = 3;
  for (std::size_t i = 0; i < slices; ++i) {
    const auto duration = static_cast<std::int64_t>(random() % 4 == 0 ? 0 : random() % 100);
    builder.op("op", at, duration);
    at += std::max<std::int64_t>(duration, 1) +
          static_cast<std::int64_t>(random() % 2 == 0 ? 0 : random() % 50);
  }
  return builder.build();
}

Lane lane_of(const Trace& trace) {
  std::vector<SliceId> order;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) order.emplace_back(row);
  return {trace, std::move(order)};
}

class Lanes : public testing::TestWithParam<std::size_t> {};

TEST_P(Lanes, AnswerAsALookAtEachSliceDoes) {
  const Trace trace = random_trace(GetParam(), 11);
  const Lane lane = lane_of(trace);
  std::mt19937 random(5);  // NOLINT(cert-msc51-cpp): the same stretches each time
  const auto end = static_cast<std::uint32_t>(to_ns(lane.end(lane.size() - 1)) + 10);
  for (int i = 0; i < 300; ++i) {
    const Time a = time_ns(random() % end);
    const Time b = time_ns(random() % end);
    const Interval stretch{std::min(a, b), std::max(a, b)};
    Duration covered{};
    std::size_t first = lane.size();
    std::size_t last = 0;
    for (std::size_t place = 0; place < lane.size(); ++place) {
      const bool starts = lane.begin(place) >= stretch.begin && lane.begin(place) < stretch.end;
      const bool reaches = lane.begin(place) < stretch.begin && lane.end(place) > stretch.begin;
      if (!starts && !reaches) continue;
      first = std::min(first, place);
      last = place + 1;
      covered += std::max(Duration{}, std::min(lane.end(place), stretch.end) -
                                          std::max(lane.begin(place), stretch.begin));
    }
    ASSERT_EQ(lane.covered(stretch), covered);
    const auto [from, to] = lane.inside(stretch);
    if (first < last) {
      ASSERT_EQ(std::pair(from, to), std::pair(first, last));
      std::size_t longest = first;
      for (std::size_t place = first; place < last; ++place) {
        if (lane.duration(place) > lane.duration(longest)) longest = place;
      }
      ASSERT_EQ(lane.longest(first, last), longest);
    } else {
      ASSERT_EQ(from, to);
    }
  }
  for (std::size_t place = 0; place < lane.size(); place += 1 + lane.size() / 100)
    EXPECT_EQ(lane.find(lane.slices()[place]), place);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Lanes, testing::Values(1, 2, 63, 64, 65, 129, 5000, 40'000));

}  // namespace
}  // namespace fathom

#include "compare/time_by_batch.h"

#include <array>

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(TimeByBatch, AddsInAnyOrder) {
  TimeByBatch times;
  times.add(5, 50);
  times.add(1, 10);
  times.add(5, 7);
  times.add(3, 0);
  EXPECT_EQ(times.all(7), (std::vector<std::int64_t>{0, 10, 0, 0, 0, 57, 0}));
  EXPECT_EQ(times.all(2), (std::vector<std::int64_t>{0, 10}));
  EXPECT_EQ(times[5], 57);
  EXPECT_EQ(times[4], 0);
}

TEST(TimeByBatch, OfAnotherRecordingComeBehind) {
  TimeByBatch times{1, 2};
  times.add(TimeByBatch{3, 0, 4}, 2);
  EXPECT_EQ(times.all(5), (std::vector<std::int64_t>{1, 2, 3, 0, 4}));
  TimeByBatch none;
  none.add(TimeByBatch{3}, 2);
  EXPECT_EQ(none.all(3), (std::vector<std::int64_t>{0, 0, 3}));
}

}  // namespace
}  // namespace fathom

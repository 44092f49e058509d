#include <gtest/gtest.h>

#include "analysis/health/health.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// How many step numbers health misses in a trace with these.
std::uint64_t missing_in(const std::vector<int>& numbers) {
  TraceBuilder builder;
  std::int64_t at = 0;
  for (const int number : numbers) {
    builder.annotation("ProfilerStep#" + std::to_string(number), at, 90);
    at += 100;
  }
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  const Health health =
      compute_health({.trace = trace, .analyses = analyses, .selection = {}, .options = {}});
  const HealthCheck* check = health.find("missing_steps");
  EXPECT_EQ(check->status, check->count == 0 ? CheckStatus::ok : CheckStatus::warning);
  return check->count;
}

TEST(HealthSteps, StepsThatARepeatedScheduleLeavesOutAreNotMissed) {
  EXPECT_EQ(missing_in({2, 3, 6, 7}), 0U);
  EXPECT_EQ(missing_in({2, 5, 8, 11}), 0U);
  EXPECT_EQ(missing_in({2, 3, 4, 7, 8, 9, 12, 13}), 0U);
}

TEST(HealthSteps, RequestsThatOverlapAreNotMissed) {
  TraceBuilder builder;
  builder.fact("step_by", "\"request\"");
  builder.on_thread(11).step(0, 100, 50);
  builder.on_thread(12).step(1, 120, 60);
  builder.on_thread(12).step(2, 200, 60);
  builder.on_thread(11).step(3, 210, 60);
  builder.on_thread(13).step(4, 300, 40);
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  const Health health =
      compute_health({.trace = trace, .analyses = analyses, .selection = {}, .options = {}});
  const HealthCheck* check = health.find("missing_steps");
  EXPECT_EQ(check->status, CheckStatus::not_applicable);
  EXPECT_EQ(check->count, 0U);
}

/// Is the first of steps of these lengths called warm-up?
bool warms_up(const std::vector<std::int64_t>& lengths) {
  TraceBuilder builder;
  std::int64_t at = 0;
  std::int64_t number = 0;
  for (const std::int64_t length : lengths) {
    builder.step(number++, at, length);
    at += length + 10;
  }
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  const Health health =
      compute_health({.trace = trace, .analyses = analyses, .selection = {}, .options = {}});
  return health.find("warm_up_inside")->status == CheckStatus::warning;
}

TEST(HealthSteps, ALongFirstStepIsNoWarmUpWhereALaterOneIsAsLong) {
  EXPECT_TRUE(warms_up({300, 100, 100, 110, 100}));
  EXPECT_TRUE(warms_up({300, 100, 190, 110, 100}));
  EXPECT_FALSE(warms_up({300, 100, 100, 210, 100}));
  EXPECT_FALSE(warms_up({140, 100, 100, 100, 100}));
}

TEST(HealthSteps, HolesThatAreNoScheduleAreMissed) {
  EXPECT_EQ(missing_in({1, 2, 3, 4, 6, 7}), 1U);
  EXPECT_EQ(missing_in({1, 2, 5, 6, 8, 9}), 3U);
  EXPECT_EQ(missing_in({1, 2, 3, 5, 7, 8, 9}), 2U);
}

}  // namespace
}  // namespace fathom

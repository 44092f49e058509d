#include "compare/pool.h"

#include <gtest/gtest.h>

#include "compare/comparison.h"
#include "compare/made_profile.h"
#include "compare/sides.h"

namespace fathom {
namespace {

Profile run_of(std::int64_t mm, std::int64_t relu, std::int64_t steps) {
  return made_profile({made_row(forward_key("aten::mm"), mm, 2, steps),
                       made_row(forward_key("aten::relu"), relu, 1, steps)},
                      steps);
}

TEST(Pool, SumsStepsRowsAndCounts) {
  Profile a = run_of(100, 50, 8);
  Profile b = run_of(120, 0, 4);
  b.rows.pop_back();
  for (std::int64_t& length : b.lengths_ns) length = 120;
  a.counters = {{.id = "launches", .title = "l", .unit = "count", .value = 16},
                {.id = "peak", .title = "p", .unit = "bytes", .value = 5, .per_step = false},
                {.id = "flops", .title = "f", .unit = "flops", .value = 1}};
  b.counters = {{.id = "launches", .title = "l", .unit = "count", .value = 8},
                {.id = "peak", .title = "p", .unit = "bytes", .value = 9, .per_step = false}};
  a.clock_mhz = 1000;
  b.clock_mhz = 1100;
  const Profile* const runs[] = {&a, &b};
  const Profile out = pooled(runs);
  EXPECT_EQ(out.steps(), 12);
  EXPECT_EQ(out.sum_ns(), a.sum_ns() + b.sum_ns());
  EXPECT_EQ(out.batches.size(), 12U);
  ASSERT_EQ(out.rows.size(), 2U);
  EXPECT_EQ(out.rows[0].work.time_ns, 8 * 100 + 4 * 120);
  EXPECT_EQ(out.rows[0].work.calls, 24);
  EXPECT_EQ(out.rows[0].work.by_batch[8], 120);
  EXPECT_EQ(out.rows[1].work.by_batch[8], 0);
  ASSERT_EQ(out.counters.size(), 2U);
  EXPECT_EQ(out.counters[0].value, 24);
  EXPECT_EQ(out.counters[1].value, 9);
  EXPECT_DOUBLE_EQ(*out.clock_mhz, 1050);
  EXPECT_EQ(out.input, "made and 1 more run");
}

TEST(Pool, ConditionsAreThoseOfAllRuns) {
  Profile a = run_of(100, 50, 8);
  Profile b = run_of(100, 50, 4);
  a.conditions = {{"seed", "seed of torch", "10"}, {"load", "load at the start", ""}};
  b.conditions = {{"seed", "seed of torch", "9"}, {"device", "device", "A100"}};
  const Profile* const runs[] = {&a, &b};
  const std::vector<Condition> out = pooled(runs).conditions;
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0].value, "9, 10");
  EXPECT_EQ(out[1].value, "");
  EXPECT_EQ(out[2].value, "A100");
}

TEST(Pool, OneRunIsItself) {
  const Profile a = run_of(100, 50, 8);
  const Profile* const runs[] = {&a};
  EXPECT_EQ(pooled(runs).content, a.content);
  EXPECT_EQ(pooled(runs).input, a.input);
}

TEST(Pool, RunsAreComparedTogetherWithTheIntervalOfTheirPairs) {
  Runs base;
  Runs now;
  for (std::int64_t i = 0; i < 6; ++i) {
    base.push_back({run_of(100'000 * (10 + i), 50'000, 8)});
    now.push_back({run_of(110'000 * (10 + i), 50'000, 8)});
    base.back().front().started_unix_ns = 10 * i + 1 + i % 2;
    now.back().front().started_unix_ns = 10 * i + 2 - i % 2;
  }
  const Result<ComparedSides> sides = compare_runs(base, now);
  ASSERT_TRUE(sides.ok());
  ASSERT_EQ(sides->pairs.size(), 1U);
  const Comparison& pair = sides->pairs.front();
  EXPECT_EQ(pair.base.steps, 48);
  ASSERT_TRUE(pair.ratio_interval);
  EXPECT_GT(pair.ratio_interval->low, 1.09);
  EXPECT_LT(pair.ratio_interval->high, 1.1);
  EXPECT_NE(pair.ratio_note.find("over 6 pairs of runs, whose median ratio is 109."),
            std::string::npos)
      << pair.ratio_note;
  std::int64_t sum = 0;
  for (const ComparedRow& row : pair.rows) sum += row.part.change_ns;
  EXPECT_EQ(sum, pair.mean_change_ns);
}

TEST(Pool, CopiesAreOneRunAndTheComparisonSaysSo) {
  const Runs base(6, {run_of(100'000, 50'000, 8)});
  const Runs now(6, {run_of(110'000, 50'000, 8)});
  const Result<ComparedSides> sides = compare_runs(base, now);
  ASSERT_TRUE(sides.ok());
  EXPECT_EQ(sides->pairs.front().base.steps, 8);
  ASSERT_EQ(sides->notes.size(), 1U);
  EXPECT_NE(sides->notes[0].find("6 recordings in base are 1"), std::string::npos);
  EXPECT_NE(sides->pairs.front().ratio_note, "The interval is over 6 pairs of runs.");
}

}  // namespace
}  // namespace fathom

#include "analysis/samples/sampled_stacks.h"

#include <gtest/gtest.h>

#include "analysis/samples/sample_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kMs = 1'000'000;

Trace sampled() {
  Trace trace;
  SampleBuilder(trace)
      .at("main app.py 1;work app.py 5")
      .runs(30)
      .waits("sleep", 7)
      .at("main app.py 1;work app.py 5")  // its frames are other rows
      .runs(10, 3)
      .thread(1, 2, "sort")
      .at("")
      .runs(4);
  return trace;
}

TEST(SampledStacks, EqualStacksAreOneAndSumToTheProcessorTime) {
  const auto stacks = sampled_stacks(sampled(), SampledTime::on_cpu);
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_EQ(stacks[0].text, "main (app.py:1);work (app.py:5)");
  EXPECT_EQ(to_ns(stacks[0].time), 40 * kMs);
  EXPECT_EQ(stacks[0].count, 2);
  EXPECT_EQ(stacks[1].text, "[sort]");
  EXPECT_EQ(to_ns(stacks[1].time), 4 * kMs);
}

TEST(SampledStacks, BlockedTimeHasItsOwn) {
  const auto stacks = sampled_stacks(sampled(), SampledTime::blocked);
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(to_ns(stacks[0].time), 7 * kMs);
}

TEST(SampledStacks, WhereBothCountWhatWasBlockedIsMarked) {
  const auto stacks = sampled_stacks(sampled(), SampledTime::both);
  ASSERT_EQ(stacks.size(), 3U);
  EXPECT_EQ(stacks[0].text, "main (app.py:1);work (app.py:5)");
  EXPECT_EQ(to_ns(stacks[0].time), 40 * kMs);
  EXPECT_EQ(stacks[1].text, "main (app.py:1);work (app.py:5);(blocked)");
  EXPECT_EQ(to_ns(stacks[1].time), 7 * kMs);
  EXPECT_EQ(stacks[2].text, "[sort]");
}

TEST(SampledStacks, WhatIsTooDeepBelongsToTheFrameAtTheLimit) {
  Trace trace;
  std::string stack;
  for (int i = 0; i < 1500; ++i) stack += (i == 0 ? "" : ";") + ("f app.py " + std::to_string(i));
  SampleBuilder(trace).at(stack).runs(2);
  const auto stacks = sampled_stacks(trace, SampledTime::on_cpu);
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_TRUE(stacks[0].text.ends_with("f (app.py:999)"));
}

}  // namespace
}  // namespace fathom

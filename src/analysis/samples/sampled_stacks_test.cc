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

std::string text(const SampledStacks& sampled, std::size_t row) {
  return sampled.texts.text(sampled.stacks[row].stack);
}

TEST(SampledStacks, EqualStacksAreOneAndSumToTheProcessorTime) {
  const Trace trace = sampled();
  const SampledStacks found = sampled_stacks(trace, SampledTime::on_cpu);
  const auto& stacks = found.stacks;
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_EQ(text(found, 0), "main (app.py:1);work (app.py:5)");
  EXPECT_EQ(to_ns(stacks[0].time), 40 * kMs);
  EXPECT_EQ(stacks[0].count, 2);
  EXPECT_EQ(text(found, 1), "[sort]");
  EXPECT_EQ(to_ns(stacks[1].time), 4 * kMs);
}

TEST(SampledStacks, BlockedTimeHasItsOwn) {
  const Trace trace = sampled();
  const auto stacks = sampled_stacks(trace, SampledTime::blocked).stacks;
  ASSERT_EQ(stacks.size(), 1U);
  EXPECT_EQ(to_ns(stacks[0].time), 7 * kMs);
}

TEST(SampledStacks, WhereBothCountWhatWasBlockedIsMarked) {
  const Trace trace = sampled();
  const SampledStacks found = sampled_stacks(trace, SampledTime::both);
  const auto& stacks = found.stacks;
  ASSERT_EQ(stacks.size(), 3U);
  EXPECT_EQ(text(found, 0), "main (app.py:1);work (app.py:5)");
  EXPECT_EQ(to_ns(stacks[0].time), 40 * kMs);
  EXPECT_EQ(text(found, 1), "main (app.py:1);work (app.py:5);(blocked)");
  EXPECT_EQ(to_ns(stacks[1].time), 7 * kMs);
  EXPECT_EQ(text(found, 2), "[sort]");
}

TEST(SampledStacks, WhatIsTooDeepBelongsToTheFrameAtTheLimit) {
  Trace trace;
  std::string stack;
  for (int i = 0; i < 1500; ++i) stack += (i == 0 ? "" : ";") + ("f app.py " + std::to_string(i));
  SampleBuilder(trace).at(stack).runs(2);
  const SampledStacks found = sampled_stacks(trace, SampledTime::on_cpu);
  ASSERT_EQ(found.stacks.size(), 1U);
  EXPECT_TRUE(text(found, 0).ends_with("f (app.py:999)"));
}

}  // namespace
}  // namespace fathom

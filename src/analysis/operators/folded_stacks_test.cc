// Folded stacks: who owns an instant, and that nothing is lost.
#include "analysis/operators/folded_stacks.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

std::map<std::string, std::int64_t> folded(const Trace& trace, StackMetric metric,
                                           Selection selection = {}) {
  const Analyses analyses(trace);
  std::map<std::string, std::int64_t> out;
  for (const FoldedStack& stack : compute_folded_stacks({trace, analyses, selection, {}}, metric)) {
    out[stack.text] = to_ns(stack.time);
  }
  return out;
}

using Stacks = std::map<std::string, std::int64_t>;

TEST(FoldedStacks, FramesAndOperatorsNestTogether) {
  TraceBuilder builder;
  builder.frame("main", 0, 100);
  builder.op("aten::mm", 10, 50);
  builder.frame("inner", 20, 10);
  builder.runtime("cudaLaunchKernel", 22, 4);
  const Trace trace = builder.build();
  EXPECT_EQ(folded(trace, StackMetric::host),
            (Stacks{{"main", 50},
                    {"main;aten::mm", 40},
                    {"main;aten::mm;inner", 6},
                    {"main;aten::mm;inner;cudaLaunchKernel", 4}}));
}

TEST(FoldedStacks, OfOverlappingThingsTheLaterOwnsTheOverlap) {
  TraceBuilder builder;
  builder.op("a", 0, 100);
  builder.op("b", 50, 100);
  const Trace trace = builder.build();
  EXPECT_EQ(folded(trace, StackMetric::host), (Stacks{{"a", 50}, {"b", 100}}));
}

TEST(FoldedStacks, StepsShareOneStackAndThreadsAddUp) {
  TraceBuilder builder;
  builder.step(1, 0, 10);
  builder.step(2, 10, 10);
  builder.on_thread(2).step(3, 0, 5);
  const Trace trace = builder.build();
  EXPECT_EQ(folded(trace, StackMetric::host), (Stacks{{"ProfilerStep*", 25}}));
}

TEST(FoldedStacks, DeviceTimeHangsUnderTheStackOfTheLaunch) {
  TraceBuilder builder;
  builder.frame("main", 0, 100);
  builder.op("aten::mm", 10, 50);
  builder.runtime("cudaLaunchKernel", 20, 5, 1);
  builder.kernel("gemm<a; b>", 300, 500, 1);
  builder.kernel("lost", 900, 70, 2);
  const Trace trace = builder.build();
  EXPECT_EQ(folded(trace, StackMetric::device),
            (Stacks{{"main;aten::mm;gemm<a, b>", 500}, {"lost", 70}}));
}

TEST(FoldedStacks, HostTimeSumsToTheTimeInsideOfAnything) {
  std::mt19937 random(6);
  TraceBuilder builder;
  std::vector<bool> covered(3000);
  for (int i = 0; i < 300; ++i) {
    const std::int64_t start = random() % 2800;
    const std::int64_t duration = random() % 100;
    const std::string name(1, static_cast<char>('a' + random() % 5));
    if (random() % 2 == 0) {
      builder.op(name, start, duration);
    } else {
      builder.frame(name, start, duration);
    }
    for (std::int64_t t = start; t < start + duration; ++t)
      covered[static_cast<std::size_t>(t)] = true;
  }
  const Trace trace = builder.build();
  std::int64_t sum = 0;
  for (const auto& [text, time] : folded(trace, StackMetric::host)) {
    EXPECT_GT(time, 0);
    sum += time;
  }
  EXPECT_EQ(sum, std::count(covered.begin(), covered.end(), true));
}

TEST(FoldedStacks, DeviceTimeOfASelectionIsConserved) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 50);
  builder.runtime("cudaLaunchKernel", 20, 5, 1);
  builder.on_stream(7, 0).kernel("k", 300, 500, 1);
  builder.on_stream(7, 1).kernel("k", 300, 80, 2);
  const Trace trace = builder.build();
  Selection selection;
  selection.device = 1;
  EXPECT_EQ(folded(trace, StackMetric::device, selection), (Stacks{{"k", 80}}));
}

TEST(FoldedStacks, WhatIsDeeperThanAThousandEntriesBelongsToTheEntryThere) {
  TraceBuilder builder;
  for (int i = 0; i < 3000; ++i) builder.frame("f", i, 10'000 - 2 * i);
  const Stacks stacks = folded(builder.build(), StackMetric::host);
  EXPECT_EQ(stacks.size(), 1000U);
  std::int64_t sum = 0;
  for (const auto& [text, time] : stacks) sum += time;
  EXPECT_EQ(sum, 10'000);
}

}  // namespace
}  // namespace fathom

// The nesting rule on small cases, and its laws on random threads.
#include "analysis/structure/nesting.h"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

TEST(Nesting, AChildLiesInsideTheInnermostSliceThatContainsIt) {
  TraceBuilder builder;
  const SliceId outer = builder.op("outer", 0, 100);
  const SliceId middle = builder.op("middle", 10, 50);
  const SliceId inner = builder.runtime("cudaLaunchKernel", 20, 10);
  const Trace trace = builder.build();
  const Nesting nesting = compute_nesting(trace);
  EXPECT_FALSE(nesting.parent[outer.row()].valid());
  EXPECT_EQ(nesting.parent[middle.row()], outer);
  EXPECT_EQ(nesting.parent[inner.row()], middle);
}

TEST(Nesting, SelfIsDurationLessDirectChildren) {
  TraceBuilder builder;
  const SliceId outer = builder.op("outer", 0, 100);
  const SliceId middle = builder.op("middle", 10, 50);
  builder.op("inner", 20, 10);
  builder.op("second", 70, 5);
  const SliceId kernel = builder.kernel("k", 0, 42);
  const Trace trace = builder.build();
  const Column<Duration> self = self_times(trace, compute_nesting(trace));
  EXPECT_EQ(self[outer.row()], duration_ns(45));
  EXPECT_EQ(self[middle.row()], duration_ns(40));
  EXPECT_EQ(self[kernel.row()], duration_ns(42));
}

TEST(Nesting, OfEqualSlicesTheFirstInTheFileIsTheParent) {
  TraceBuilder builder;
  const SliceId first = builder.op("a", 0, 100);
  const SliceId second = builder.op("b", 0, 100);
  const Trace trace = builder.build();
  const Nesting nesting = compute_nesting(trace);
  EXPECT_EQ(nesting.parent[second.row()], first);
  EXPECT_FALSE(nesting.parent[first.row()].valid());
}

TEST(Nesting, TheLongerOfTwoThatStartTogetherIsTheParent) {
  TraceBuilder builder;
  const SliceId shorter = builder.op("a", 0, 10);
  const SliceId longer = builder.op("b", 0, 100);
  const Trace trace = builder.build();
  EXPECT_EQ(compute_nesting(trace).parent[shorter.row()], longer);
}

TEST(Nesting, ASliceThatStartsWhereAnotherEndsIsItsSibling) {
  TraceBuilder builder;
  builder.op("a", 0, 10);
  const SliceId next = builder.op("b", 10, 0);
  const Trace trace = builder.build();
  EXPECT_FALSE(compute_nesting(trace).parent[next.row()].valid());
}

TEST(Nesting, ASliceThatOutlivesTheTopPopsItAndIsCounted) {
  TraceBuilder builder;
  const SliceId outer = builder.op("outer", 0, 100);
  const SliceId top = builder.op("top", 10, 20);
  const SliceId late = builder.op("late", 25, 20);
  const SliceId after = builder.op("after", 26, 2);
  const Trace trace = builder.build();
  const Nesting nesting = compute_nesting(trace);
  EXPECT_EQ(nesting.parent[late.row()], outer);
  EXPECT_EQ(nesting.parent[after.row()], late);
  EXPECT_EQ(nesting.overlaps, 1U);
  EXPECT_EQ(nesting.first_overlap, top);
}

TEST(Nesting, PythonFramesAndOverheadFormForestsOfTheirOwn) {
  TraceBuilder builder;
  const SliceId frame = builder.frame("train.py(1): main", 0, 1000);
  const SliceId op = builder.op("aten::mm", 10, 100);
  const SliceId inner = builder.frame("train.py(9): step", 20, 10);
  const SliceId overhead = builder.slice(SliceKind::overhead, "Buffer Flush", 30, 5);
  const Trace trace = builder.build();
  const Nesting nesting = compute_nesting(trace);
  EXPECT_FALSE(nesting.parent[op.row()].valid());
  EXPECT_EQ(nesting.parent[inner.row()], frame);
  EXPECT_FALSE(nesting.parent[overhead.row()].valid());
  EXPECT_EQ(self_times(trace, nesting)[op.row()], duration_ns(100));
  ASSERT_EQ(nesting.frames.size(), 1U);
  EXPECT_EQ(nesting.frames[0].slices, (std::vector<SliceId>{frame, inner}));
}

TEST(Nesting, ThreadsOfEqualNumberInDifferentProcessesDoNotMix) {
  TraceBuilder builder;
  builder.on_thread(1, 100).op("a", 0, 100);
  const SliceId other = builder.on_thread(1, 200).op("b", 10, 10);
  const Trace trace = builder.build();
  const Nesting nesting = compute_nesting(trace);
  EXPECT_FALSE(nesting.parent[other.row()].valid());
  EXPECT_EQ(nesting.work.size(), 2U);
}

TEST(Nesting, InnermostAtFindsWhatContainsAStretch) {
  TraceBuilder builder;
  const SliceId outer = builder.op("outer", 0, 100);
  const SliceId inner = builder.op("inner", 10, 20);
  builder.op("next", 50, 10);
  const Trace trace = builder.build();
  const Nesting nesting = compute_nesting(trace);
  const auto at = [&](std::int64_t begin, std::int64_t end) {
    return innermost_at(trace, nesting, nesting.work[0], time_ns(begin), time_ns(end));
  };
  EXPECT_EQ(at(12, 15), inner);
  EXPECT_EQ(at(12, 40), outer);
  EXPECT_EQ(at(10, 10), inner);
  EXPECT_EQ(at(70, 70), outer);
  EXPECT_FALSE(at(100, 100).valid());
  EXPECT_FALSE(at(-5, 3).valid());
}

/// By walking outwards, one slice after the other.
SliceId naive_innermost(const Trace& trace, const Nesting& nesting, Time at, Time end) {
  SliceId found;
  for (const SliceId slice : nesting.work[0].slices)
    if (trace.slices.start[slice.row()] <= at) found = slice;
  while (found.valid() && (at >= trace.slices.end(found) || end > trace.slices.end(found)))
    found = nesting.parent[found.row()];
  return found;
}

TEST(Nesting, InnermostAtLeapsOverDeepNestsAndMissesNothing) {
  constexpr std::int64_t kLevels = 700;
  std::mt19937 random(5);
  TraceBuilder builder;
  // A slope outwards: some levels have their own piece before and behind what is inside.
  std::int64_t begin = 0;
  std::int64_t end = 20 * kLevels;
  for (std::int64_t level = 0; level < kLevels; ++level) {
    builder.op("level", begin, end - begin);
    if (random() % 5 == 0) builder.op("leaf", begin + 1, 3);
    begin += 4 + static_cast<std::int64_t>(random() % 4);
    end -= static_cast<std::int64_t>(random() % 8);
  }
  const Trace trace = builder.build();
  const Nesting nesting = compute_nesting(trace);
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t at = static_cast<std::int64_t>(random() % (21 * kLevels)) - 10;
    const std::int64_t until = at + static_cast<std::int64_t>(random() % (4 * kLevels));
    ASSERT_EQ(innermost_at(trace, nesting, nesting.work[0], time_ns(at), time_ns(until)),
              naive_innermost(trace, nesting, time_ns(at), time_ns(until)))
        << at << " to " << until;
  }
}

TEST(Nesting, FindsTheThreadOfATrack) {
  TraceBuilder builder;
  builder.on_thread(1).op("a", 0, 100);
  builder.on_thread(2).frame("train.py(3): step", 0, 100);
  builder.on_thread(3).op("b", 0, 100);
  const Trace trace = builder.build();
  const Nesting nesting = compute_nesting(trace);
  for (const Nesting::Thread& thread : nesting.work)
    EXPECT_EQ(thread_on(nesting.work, thread.track), &thread);
  EXPECT_EQ(thread_on(nesting.work, nesting.frames[0].track), nullptr);
  EXPECT_EQ(thread_on({}, TrackId(std::size_t{0})), nullptr);
}

/// The rule of the contract, word for word, on one thread.
std::map<std::uint32_t, std::uint32_t> naive_parents(const Trace& trace,
                                                     std::vector<SliceId> slices) {
  std::ranges::sort(slices, [&](SliceId a, SliceId b) {
    const auto key = [&](SliceId s) {
      return std::tuple(trace.slices.start[s.row()], -trace.slices.duration[s.row()], s);
    };
    return key(a) < key(b);
  });
  std::map<std::uint32_t, std::uint32_t> parents;
  std::vector<SliceId> stack;
  for (const SliceId slice : slices) {
    while (!stack.empty() && (trace.slices.start[slice.row()] >= trace.slices.end(stack.back()) ||
                              trace.slices.end(slice) > trace.slices.end(stack.back()))) {
      stack.pop_back();
    }
    parents[slice.value] = stack.empty() ? SliceId::kNone : stack.back().value;
    stack.push_back(slice);
  }
  return parents;
}

TEST(Nesting, FollowsTheRuleOnRandomThreads) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    TraceBuilder builder;
    std::map<std::int64_t, std::vector<SliceId>> by_thread;
    for (int i = 0; i < 300; ++i) {
      const std::int64_t tid = random() % 3;
      const std::int64_t start = random() % 400;
      const std::int64_t duration = random() % (random() % 4 == 0 ? 200 : 12);
      by_thread[tid].push_back(builder.on_thread(tid).op("op", start, duration));
    }
    const Trace trace = builder.build();
    const Nesting nesting = compute_nesting(trace);
    for (const auto& [tid, slices] : by_thread) {
      for (const auto& [slice, parent] : naive_parents(trace, slices)) {
        ASSERT_EQ(nesting.parent[slice].value, parent)
            << "slice " << slice << " of round " << round;
      }
    }
  }
}

TEST(Nesting, SelfTimesOfAThreadSumToTheDurationsOfItsRoots) {
  std::mt19937 random(4);
  TraceBuilder builder;
  for (int i = 0; i < 2000; ++i) builder.op("op", random() % 9000, random() % 300);
  const Trace trace = builder.build();
  const Nesting nesting = compute_nesting(trace);
  const Column<Duration> selves = self_times(trace, nesting);
  Duration self{};
  Duration roots{};
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    self += selves[row];
    if (!nesting.parent[row].valid()) roots += trace.slices.duration[row];
  }
  EXPECT_EQ(self, roots);
}

}  // namespace
}  // namespace fathom

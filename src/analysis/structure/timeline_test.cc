#include "analysis/structure/timeline.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::string_view kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)";

/// Links of a trace whose activities nobody launched.
Links unlinked(const Trace& trace) {
  Links links;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (is_device_activity(trace.kind(SliceId(row)))) links.activities.emplace_back(row);
  }
  std::ranges::stable_sort(links.activities, {},
                           [&](SliceId id) { return trace.slices.start[id.row()]; });
  return links;
}

Timelines timelines_of(const Trace& trace) { return compute_timelines(trace, unlinked(trace)); }

std::int64_t ns(const BusyTime& time, Busy kind) { return to_ns(time[kind]); }

TEST(Timeline, GivesEveryInstantToTheStrongestKindRunning) {
  TraceBuilder builder;
  builder.on_stream(1).kernel("gemm", 0, 10);
  builder.on_stream(2).kernel(kNccl, 5, 15);
  builder.on_stream(3).copy(CopyKind::h2d, 15, 15);
  builder.on_stream(4).fill(0, 40);
  const Trace trace = builder.build();
  const Timelines timelines = timelines_of(trace);
  ASSERT_EQ(timelines.devices.size(), 1U);
  const BusyTime time = busy_time(timelines.devices[0], {time_ns(0), time_ns(50)});
  EXPECT_EQ(ns(time, Busy::compute), 10);
  EXPECT_EQ(ns(time, Busy::communication), 10);
  EXPECT_EQ(ns(time, Busy::memcpy), 10);
  EXPECT_EQ(ns(time, Busy::memset), 10);
  EXPECT_EQ(ns(time, Busy::idle), 10);
  EXPECT_EQ(to_ns(time.total_of(Busy::communication)), 15);
  EXPECT_EQ(to_ns(time.total_of(Busy::memset)), 40);
  EXPECT_EQ(to_ns(time.busy()), 40);
}

TEST(Timeline, CountsOverlappingKernelsOnce) {
  TraceBuilder builder;
  builder.on_stream(1).kernel("a", 0, 10);
  builder.on_stream(2).kernel("b", 2, 3);
  builder.on_stream(3).kernel("c", 8, 4);
  builder.on_stream(3).kernel("d", 12, 1);
  const Trace trace = builder.build();
  const Timelines timelines = timelines_of(trace);
  ASSERT_EQ(timelines.devices[0].segments.size(), 1U);
  EXPECT_EQ(timelines.devices[0].segments[0].interval, (Interval{time_ns(0), time_ns(13)}));
}

TEST(Timeline, CutsAtTheWindow) {
  TraceBuilder builder;
  builder.kernel("a", 0, 10);
  builder.kernel("b", 20, 10);
  builder.kernel("c", 40, 10);
  const Trace trace = builder.build();
  const Timelines timelines = timelines_of(trace);
  const BusyTime time = busy_time(timelines.devices[0], {time_ns(5), time_ns(42)});
  EXPECT_EQ(ns(time, Busy::compute), 17);
  EXPECT_EQ(ns(time, Busy::idle), 20);
}

TEST(Timeline, KeepsDevicesApart) {
  TraceBuilder builder;
  builder.on_stream(7, 1).kernel("a", 0, 10);
  builder.on_stream(7, 0).kernel("a", 5, 10);
  const Trace trace = builder.build();
  const Timelines timelines = timelines_of(trace);
  ASSERT_EQ(timelines.devices.size(), 2U);
  EXPECT_EQ(timelines.devices[0].device, 0);
  EXPECT_EQ(timelines.devices[0].span, (Interval{time_ns(5), time_ns(15)}));
  EXPECT_EQ(timelines.find(1)->activities.size(), 1U);
  EXPECT_EQ(timelines.find(2), nullptr);
}

TEST(Timeline, TakesOnlyKernelsCopiesAndFillsForWork) {
  TraceBuilder builder;
  builder.gpu_annotation("ProfilerStep#1", 0, 100);
  builder.sync("Stream Sync", 0, 100);
  builder.kernel("a", 10, 0);
  builder.kernel("b", 20, 5);
  const Trace trace = builder.build();
  const Timelines timelines = timelines_of(trace);
  EXPECT_EQ(to_ns(busy_time(timelines.devices[0], {time_ns(0), time_ns(100)}).busy()), 5);
  EXPECT_EQ(timelines.devices[0].activities.size(), 2U);
}

TEST(Timeline, FindsTheNextBusyInstant) {
  TraceBuilder builder;
  builder.kernel("a", 10, 10);
  builder.kernel("b", 30, 10);
  const Trace trace = builder.build();
  const Timelines timelines = timelines_of(trace);
  const DeviceTimeline& timeline = timelines.devices[0];
  EXPECT_EQ(next_busy(timeline, time_ns(0)), time_ns(10));
  EXPECT_EQ(next_busy(timeline, time_ns(15)), time_ns(15));
  EXPECT_EQ(next_busy(timeline, time_ns(20)), time_ns(30));
  EXPECT_EQ(next_busy(timeline, time_ns(40)), Time::max());
}

/// Against the definition itself: each nanosecond asked on its own.
TEST(Timeline, ConservesEveryNanosecondOfRandomTraces) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    TraceBuilder builder;
    std::array<std::array<bool, 4>, 300> running{};
    for (int i = 0; i < 40; ++i) {
      const auto start = static_cast<std::int64_t>(random() % 250);
      const auto length = static_cast<std::int64_t>(random() % 30);
      const std::size_t kind = random() % 4;
      builder.on_stream(static_cast<std::int64_t>(random() % 3));
      if (kind == 0) builder.kernel("gemm", start, length);
      if (kind == 1) builder.kernel(kNccl, start, length);
      if (kind == 2) builder.copy(CopyKind::d2h, start, length);
      if (kind == 3) builder.fill(start, length);
      for (std::int64_t t = start; t < start + length; ++t)
        running[static_cast<std::size_t>(t)][kind] = true;
    }
    const Trace trace = builder.build();
    const Timelines timelines = timelines_of(trace);
    const auto begin = static_cast<std::int64_t>(random() % 100);
    const std::int64_t end = begin + static_cast<std::int64_t>(random() % 200);
    std::array<std::int64_t, kBusyKinds> exclusive{};
    std::array<std::int64_t, kBusyKinds> total{};
    for (std::int64_t t = begin; t < end; ++t) {
      const auto& now = running[static_cast<std::size_t>(t)];
      ++exclusive[static_cast<std::size_t>(std::ranges::find(now, true) - now.begin())];
      for (std::size_t kind = 0; kind < now.size(); ++kind) total[kind] += now[kind] ? 1 : 0;
    }
    const BusyTime time = busy_time(timelines.devices[0], {time_ns(begin), time_ns(end)});
    for (std::size_t kind = 0; kind < kBusyKinds; ++kind) {
      EXPECT_EQ(to_ns(time.exclusive[kind]), exclusive[kind]);
      if (kind + 1 < kBusyKinds) {
        EXPECT_EQ(to_ns(time.total[kind]), total[kind]);
      }
    }
  }
}

TEST(Timeline, SpansItsActivitiesWithinAWindow) {
  TraceBuilder builder;
  builder.kernel("a", 10, 10);
  builder.kernel("b", 30, 10);
  builder.kernel("c", 60, 0);
  const Trace trace = builder.build();
  const Timelines timelines = timelines_of(trace);
  const auto span = [&](std::int64_t begin, std::int64_t end) {
    return active_span(timelines.devices[0], {time_ns(begin), time_ns(end)});
  };
  EXPECT_EQ(span(0, 100), (Interval{time_ns(10), time_ns(60)}));
  EXPECT_EQ(span(0, 50), (Interval{time_ns(10), time_ns(40)}));
  EXPECT_EQ(span(15, 35), (Interval{time_ns(15), time_ns(35)}));
  EXPECT_EQ(span(20, 100), (Interval{time_ns(30), time_ns(40)}));
  EXPECT_EQ(span(20, 30).length(), Duration{});
  EXPECT_EQ(span(45, 50).length(), Duration{});
}

TEST(Timeline, HoldsCopiesAndNoWaitsOfAcceleratorsThatWriteThemBesideKernels) {
  TraceBuilder builder;
  builder.kernel("fc-dtype_Float", 0, 10);
  builder.kernel("dma_request", 20, 10);
  builder.kernel("event_wait", 40, 100);
  const Trace trace = builder.build();
  const Timelines timelines = timelines_of(trace);
  const BusyTime time = busy_time(timelines.devices[0], {time_ns(0), time_ns(200)});
  EXPECT_EQ(time[Busy::compute], duration_ns(10));
  EXPECT_EQ(time[Busy::memcpy], duration_ns(10));
  EXPECT_EQ(time[Busy::idle], duration_ns(180));
}

}  // namespace
}  // namespace fathom

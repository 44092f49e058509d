// The counters say what launches and activities say.
#include "analysis/timeline/device_counters.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "analysis/structure/nesting.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

struct Made {
  explicit Made(Trace made)
      : trace(std::move(made)),
        links(compute_links(trace, compute_nesting(trace))),
        timelines(compute_timelines(trace, links)) {}
  Trace trace;
  Links links;
  Timelines timelines;
};

double at(const CounterSeries& series, std::int64_t ns) {
  const auto next = std::ranges::upper_bound(series.times, Time(Duration(ns)));
  EXPECT_NE(next, series.times.begin());
  return series.values[static_cast<std::size_t>(next - series.times.begin()) - 1];
}

/// The integral of the bins, in units times ns.
double integral(const CounterSeries& series, Interval stretch, std::size_t bins) {
  const std::vector<CounterBin> made = counter_bins(series, stretch, bins);
  double sum = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const Time end = i + 1 < made.size() ? made[i + 1].begin : stretch.end;
    sum += made[i].mean * static_cast<double>(to_ns(end - made[i].begin));
  }
  return sum;
}

/// A training loop of a kind: launches run ahead, two streams overlap, some wait for the host.
Trace busy_trace() {
  TraceBuilder builder;
  std::int64_t launch = 0;
  std::int64_t start = 40;
  for (std::int64_t i = 0; i < 200; ++i) {
    launch += 7 + i * i % 23;
    start = std::max(start, launch + 3) + (i % 5 == 0 ? 11 : 0);
    builder.runtime("cudaLaunchKernel", launch, 5, i + 1);
    builder.on_stream(i % 3 == 0 ? 8 : 7).kernel("k", start, 9 + i % 31, i + 1);
    start += 6 + i % 29;
  }
  return builder.build();
}

TEST(DeviceCounters, TheQueueGrowsWithLaunchesAndShrinksWhereActivitiesBegin) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 10, 5, 1);
  builder.runtime("cudaLaunchKernel", 20, 5, 2);
  builder.runtime("cudaLaunchKernel", 30, 5, 3);
  builder.kernel("k", 15, 100, 1);
  builder.kernel("k", 115, 100, 2);
  builder.kernel("k", 215, 100, 3);
  builder.kernel("without a launch", 400, 10, 99);
  const Made made(builder.build());
  const CounterSeries series = queue_series(made.trace, made.links, made.timelines.devices.front());
  const std::int64_t origin = 10;  // times count from the earliest
  const std::int64_t shift = to_ns(made.trace.slices.start[0]) - origin;
  const auto depth = [&](std::int64_t ns) { return at(series, ns + shift); };
  EXPECT_EQ(depth(10), 1);
  EXPECT_EQ(depth(14), 1);
  EXPECT_EQ(depth(15), 0);
  EXPECT_EQ(depth(20), 1);
  EXPECT_EQ(depth(30), 2);
  EXPECT_EQ(depth(114), 2);
  EXPECT_EQ(depth(115), 1);
  EXPECT_EQ(depth(215), 0);
  EXPECT_EQ(depth(400), 0);
  EXPECT_EQ(series.device, made.timelines.devices.front().device);
}

TEST(DeviceCounters, TheIntegralOfTheQueueIsTheTimeThatActivitiesWaited) {
  const Made made(busy_trace());
  const CounterSeries series = queue_series(made.trace, made.links, made.timelines.devices.front());
  Duration waited{};
  Time end{};
  for (const SliceId activity : made.links.activities) {
    const SliceId call = made.links.launch[activity.row()];
    waited += made.trace.slices.start[activity.row()] - made.trace.slices.start[call.row()];
    end = std::max(end, made.trace.slices.end(activity));
  }
  ASSERT_GT(waited, Duration{});
  for (const std::size_t bins : {1U, 7U, 300U}) {
    EXPECT_NEAR(integral(series, {series.times.front(), end}, bins),
                static_cast<double>(to_ns(waited)), 1e-6);
  }
  EXPECT_EQ(series.values.back(), 0);
  EXPECT_GE(std::ranges::min(series.values), 0);
}

TEST(DeviceCounters, ActivitiesThatSeemToBeginBeforeTheirLaunchTakeNoPart) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 50, 5, 1);
  builder.kernel("k", 20, 10, 1);
  const Made made(builder.build());
  const CounterSeries series = queue_series(made.trace, made.links, made.timelines.devices.front());
  EXPECT_EQ(std::ranges::max(series.values), 0);
}

TEST(DeviceCounters, TheIntegralOfUtilisationIsTheBusyTime) {
  const Made made(busy_trace());
  const DeviceTimeline& timeline = made.timelines.devices.front();
  const CounterSeries series = utilisation_series(made.trace, timeline);
  EXPECT_EQ(series.unit, "percent");
  const Interval whole{series.times.front(), timeline.span.end + Duration(50)};
  const Interval part{timeline.span.begin + Duration(101), timeline.span.end - Duration(77)};
  for (const Interval& stretch : {whole, part}) {
    const double busy = static_cast<double>(to_ns(busy_time(timeline, stretch).busy()));
    ASSERT_GT(busy, 0);
    for (const std::size_t bins : {1U, 3U, 64U, 1000U})
      EXPECT_NEAR(integral(series, stretch, bins) / 100, busy, 1e-6) << bins;
  }
}

TEST(DeviceCounters, ABinOfUtilisationIsItsBusyShareAndNothingElse) {
  const Made made(busy_trace());
  const DeviceTimeline& timeline = made.timelines.devices.front();
  const CounterSeries series = utilisation_series(made.trace, timeline);
  for (const CounterBin& bin : counter_bins(series, timeline.span, 10)) {
    EXPECT_EQ(bin.least, bin.mean);
    EXPECT_EQ(bin.most, bin.mean);
    EXPECT_GE(bin.mean, 0);
    EXPECT_LE(bin.mean, 100);
  }
}

}  // namespace
}  // namespace fathom

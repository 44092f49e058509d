#include "analysis/devices/device_metrics.h"

#include <gtest/gtest.h>

#include "analysis/structure/links.h"
#include "analysis/structure/nesting.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

LaunchConfig filling(double blocks_per_sm, double occupancy) {
  LaunchConfig config;
  config.blocks_per_sm = blocks_per_sm;
  config.occupancy_percent = occupancy;
  return config;
}

DeviceMetrics metrics_of(const Trace& trace, std::int64_t begin, std::int64_t end) {
  const Timelines timelines =
      compute_timelines(trace, compute_links(trace, compute_nesting(trace)));
  return compute_device_metrics(trace, timelines, timelines.devices.at(0),
                                {time_ns(begin), time_ns(end)});
}

TEST(DeviceMetrics, CapTheBlocksOfConcurrentKernelsAtOnePerMultiprocessor) {
  TraceBuilder builder;
  builder.on_stream(1).kernel("a", 0, 100).config(filling(0.5, 10));
  builder.on_stream(2).kernel("b", 50, 100).config(filling(0.75, 30));
  const Trace trace = builder.build();
  const DeviceMetrics metrics = metrics_of(trace, 0, 200);
  // 50 ns at 0.5, 50 ns at min(1, 1.25), 50 ns at 0.75 of 200 ns.
  EXPECT_DOUBLE_EQ(*metrics.sm_efficiency_percent, 100.0 * (25 + 50 + 37.5) / 200);
  EXPECT_DOUBLE_EQ(*metrics.achieved_occupancy_percent, 20);
  EXPECT_DOUBLE_EQ(*metrics.kernel_percent, 75);
}

TEST(DeviceMetrics, CountOnlyWhatLiesInTheWindow) {
  TraceBuilder builder;
  builder.kernel("nvjet_tst_192x8", 0, 100).config(filling(1, 50));
  builder.kernel("other", 100, 100).config(filling(1, 10));
  const Trace trace = builder.build();
  const DeviceMetrics metrics = metrics_of(trace, 50, 125);
  EXPECT_EQ(metrics.kernels, 1U);
  EXPECT_EQ(to_ns(metrics.kernel_time), 75);
  EXPECT_DOUBLE_EQ(*metrics.tensor_core_percent, 100.0 * 50 / 75);
  EXPECT_DOUBLE_EQ(*metrics.achieved_occupancy_percent, (50.0 * 50 + 10 * 25) / 75);
}

TEST(DeviceMetrics, AbstainWhereNothingWasRecorded) {
  TraceBuilder builder;
  builder.kernel("a", 0, 100);
  const Trace trace = builder.build();
  const DeviceMetrics metrics = metrics_of(trace, 0, 100);
  EXPECT_FALSE(metrics.sm_efficiency_percent);
  EXPECT_FALSE(metrics.achieved_occupancy_percent);
  EXPECT_EQ(metrics.sm_known, 0);
}

}  // namespace
}  // namespace fathom

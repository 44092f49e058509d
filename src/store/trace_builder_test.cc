// The builder that other tests rely on: what it builds has the shape of what a reader builds.
#include "store/trace_builder.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(TraceBuilder, KeepsEventsInTheOrderOfTheCalls) {
  TraceBuilder builder;
  const SliceId first = builder.op("aten::mm", 100, 50);
  const SliceId second = builder.op("aten::add", 20, 5);
  const Trace trace = builder.build();
  EXPECT_EQ(first.row(), 0U);
  EXPECT_EQ(second.row(), 1U);
  EXPECT_EQ(trace.name(first), "aten::mm");
  EXPECT_EQ(trace.slices.start[0], time_ns(100));
  EXPECT_EQ(trace.slices.duration[0], duration_ns(50));
  EXPECT_EQ(trace.kind(second), SliceKind::cpu_op);
}

TEST(TraceBuilder, EqualSignaturesShareOneRow) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 1).shapes("[[2,3],[3,4]]").types(R"(["float","float"])");
  builder.op("aten::mm", 2, 1).shapes("[[2,3],[3,4]]").types(R"(["float","float"])");
  const Trace trace = builder.build();
  ASSERT_EQ(trace.ops.size(), 2U);
  EXPECT_EQ(trace.ops.signature[0], trace.ops.signature[1]);
  EXPECT_EQ(trace.text(trace.signatures[trace.ops.signature[0].row()].shapes), "[[2,3],[3,4]]");
}

TEST(TraceBuilder, PutsDeviceEventsOnStreamsAndHostEventsOnThreads) {
  TraceBuilder builder;
  builder.on_thread(11).on_stream(20, 3);
  const SliceId call = builder.runtime("cudaLaunchKernel", 0, 5, 9);
  const SliceId kernel = builder.kernel("gemm", 10, 5, 9).grid(2, 3, 4).block(128, 1, 1);
  const Trace trace = builder.build();
  EXPECT_EQ(trace.track(call).kind, TrackKind::host_thread);
  EXPECT_EQ(trace.track(call).tid, 11);
  EXPECT_EQ(trace.track(kernel).device, 3);
  EXPECT_EQ(trace.track(kernel).stream, 20);
  EXPECT_EQ(trace.slices.correlation[kernel.row()], 9);
  const LaunchConfig& config =
      trace.launch_configs[trace.kernels.config[trace.slices.detail[kernel.row()]].row()];
  EXPECT_EQ(config.grid[2], 4);
  EXPECT_EQ(config.block[0], 128);
}

TEST(TraceBuilder, SpansHostWorkAndDeviceActivity) {
  TraceBuilder builder;
  builder.op("aten::mm", 100, 50);
  builder.slice(SliceKind::overhead, "Activity Buffer Request", 1, 1);
  builder.kernel("gemm", 300, 50);
  const Trace trace = builder.build();
  EXPECT_EQ(trace.span, (Interval{time_ns(100), time_ns(350)}));
}

TEST(TraceBuilder, CountsSlicesPerTrackAndCategory) {
  TraceBuilder builder;
  builder.op("a", 0, 1).category("Operator");
  builder.op("b", 2, 1);
  const Trace trace = builder.build();
  EXPECT_EQ(trace.tracks[0].slices, 2U);
  ASSERT_EQ(trace.categories.size(), 2U);
  EXPECT_EQ(trace.categories[0].slices, 1U);
  EXPECT_EQ(trace.text(trace.categories[1].name), "Operator");
  EXPECT_EQ(trace.categories[1].kind, SliceKind::cpu_op);
}

}  // namespace
}  // namespace fathom

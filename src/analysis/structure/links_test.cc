// How activities find their call and their operator.
#include "analysis/structure/links.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

Links links_of(const Trace& trace) { return compute_links(trace, compute_nesting(trace)); }

TEST(Links, AnActivityBelongsToTheInnermostOperatorAroundItsLaunch) {
  TraceBuilder builder;
  builder.op("aten::linear", 0, 100);
  const SliceId op = builder.op("aten::addmm", 10, 50);
  const SliceId call = builder.runtime("cudaLaunchKernel", 20, 10, 5);
  const SliceId kernel = builder.kernel("gemm", 200, 30, 5);
  const Trace trace = builder.build();
  const Links links = links_of(trace);
  EXPECT_EQ(links.launch[kernel.row()], call);
  EXPECT_EQ(links.op[kernel.row()], op);
  EXPECT_EQ(links.attribution[kernel.row()], Attribution::by_launch);
  EXPECT_EQ(links.without_launch, 0U);
}

TEST(Links, SlicesThatAreNoActivityHaveNoLink) {
  TraceBuilder builder;
  const SliceId op = builder.op("aten::add", 0, 100);
  builder.kernel("k", 1, 1, 1);
  const Trace trace = builder.build();
  const Links links = links_of(trace);
  EXPECT_FALSE(links.op[op.row()].valid());
  EXPECT_EQ(links.attribution[op.row()], Attribution::none);
}

TEST(Links, AnAnnotationIsNoOperator) {
  TraceBuilder builder;
  builder.annotation("forward", 0, 100);
  builder.runtime("cudaLaunchKernel", 20, 10, 5);
  const SliceId kernel = builder.kernel("gemm", 200, 30, 5);
  const Trace trace = builder.build();
  const Links links = links_of(trace);
  EXPECT_EQ(links.attribution[kernel.row()], Attribution::no_operator);
  EXPECT_FALSE(links.op[kernel.row()].valid());
}

TEST(Links, AnActivityWithoutItsCallIsUnattributedAndCounted) {
  TraceBuilder builder;
  builder.op("aten::add", 0, 100);
  builder.runtime("cudaLaunchKernel", 20, 10, 5);
  const SliceId lost = builder.kernel("gemm", 200, 30, 6);
  const SliceId unnumbered = builder.kernel("gemm", 300, 30);
  const Trace trace = builder.build();
  const Links links = links_of(trace);
  EXPECT_EQ(links.attribution[lost.row()], Attribution::unattributed);
  EXPECT_EQ(links.attribution[unnumbered.row()], Attribution::unattributed);
  EXPECT_EQ(links.without_launch, 2U);
  EXPECT_EQ(links.first_without_launch, lost);
  EXPECT_EQ(links.launches_without_activity, 1U);
}

TEST(Links, CallsThatStartNothingAreNotMissedActivities) {
  TraceBuilder builder;
  builder.runtime("cudaStreamSynchronize", 0, 10, 1);
  builder.runtime("cudaMalloc", 20, 10, 2);
  const SliceId launch = builder.runtime("cudaGraphLaunch", 40, 10, 3);
  const Trace trace = builder.build();
  const Links links = links_of(trace);
  EXPECT_EQ(links.launches_without_activity, 1U);
  EXPECT_EQ(links.first_launch_without_activity, launch);
}

TEST(Links, OfTwoCallsWithOneIdTheOneThatLaunchesCounts) {
  TraceBuilder builder;
  const SliceId launch = builder.driver("cuLaunchKernel", 10, 5, 1);
  builder.runtime("cudaFuncGetAttributes", 20, 5, 1);
  const SliceId kernel = builder.kernel("k", 100, 5, 1);
  const Trace trace = builder.build();
  EXPECT_EQ(links_of(trace).launch[kernel.row()], launch);
}

TEST(Links, OfARuntimeCallAndTheDriverCallInItTheOuterOneCounts) {
  TraceBuilder builder;
  const SliceId driver = builder.driver("cuLaunchKernel", 12, 5, 1);
  const SliceId runtime = builder.runtime("cudaLaunchKernel", 10, 10, 1);
  const SliceId kernel = builder.kernel("k", 100, 5, 1);
  const Trace trace = builder.build();
  const Links links = links_of(trace);
  EXPECT_EQ(links.launch[kernel.row()], runtime);
  EXPECT_NE(links.launch[kernel.row()], driver);
  EXPECT_EQ(links.launches_without_activity, 0U);
}

TEST(Links, OfReusedIdsTheLastCallBeforeTheActivityCounts) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 10, 5, 1);
  const SliceId second = builder.runtime("cudaLaunchKernel", 50, 5, 1);
  builder.runtime("cudaLaunchKernel", 500, 5, 1);
  const SliceId kernel = builder.kernel("k", 100, 5, 1);
  const Trace trace = builder.build();
  EXPECT_EQ(links_of(trace).launch[kernel.row()], second);
}

TEST(Links, OfReusedIdsTheOuterOfTwoNestedCallsCounts) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 10, 5, 1);
  const SliceId outer = builder.runtime("cudaLaunchKernel", 50, 20, 1);
  builder.driver("cuLaunchKernel", 55, 5, 1);
  builder.runtime("cudaLaunchKernel", 500, 5, 1);
  const SliceId kernel = builder.kernel("k", 100, 5, 1);
  const Trace trace = builder.build();
  EXPECT_EQ(links_of(trace).launch[kernel.row()], outer);
}

TEST(Links, AReusedIdStartsCopiesByCopyCallsAndKernelsByLaunches) {
  TraceBuilder builder;
  const SliceId copying = builder.runtime("cudaMemcpyAsync", 10, 5, 1);
  const SliceId launching = builder.runtime("cudaLaunchKernel", 30, 5, 1);
  const SliceId kernel = builder.kernel("k", 100, 5, 1);
  const SliceId copy = builder.copy(CopyKind::h2d, 200, 5, 1);
  const Trace trace = builder.build();
  const Links links = links_of(trace);
  EXPECT_EQ(links.launch[kernel.row()], launching);
  EXPECT_EQ(links.launch[copy.row()], copying);
}

TEST(Links, AnActivityBeforeAllCallsWithItsIdBelongsToTheFirst) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 300, 5, 1);
  const SliceId first = builder.runtime("cudaLaunchKernel", 200, 5, 1);
  const SliceId kernel = builder.kernel("k", 100, 5, 1);
  const Trace trace = builder.build();
  EXPECT_EQ(links_of(trace).launch[kernel.row()], first);
}

TEST(Links, TheIdZeroNamesNothing) {
  TraceBuilder builder;
  const SliceId call = builder.runtime("cudaLaunchKernel", 10, 5, 0);
  const SliceId kernel = builder.kernel("k", 100, 5, 0);
  const Trace trace = builder.build();
  const Links links = links_of(trace);
  EXPECT_FALSE(links.launch[kernel.row()].valid());
  EXPECT_EQ(links.attribution[kernel.row()], Attribution::unattributed);
  EXPECT_EQ(links.kernel_launches, 1U);
  EXPECT_EQ(links.launches_without_activity, 0U);
  EXPECT_NE(links.first_launch_without_activity, call);
}

TEST(Links, ADeviceBelongsToTheProcessThatLaunchedMostOfItsWork) {
  TraceBuilder builder;
  builder.on_thread(1, 100);
  const SliceId own = builder.runtime("cudaLaunchKernel", 10, 5, 1);
  builder.runtime("cudaLaunchKernel", 20, 5, 2);
  builder.on_thread(1, 200);
  builder.runtime("cudaLaunchKernel", 30, 5, 1);
  const SliceId first = builder.kernel("k", 100, 5, 1);
  builder.kernel("k", 110, 5, 2);
  const Trace trace = builder.build();
  EXPECT_EQ(links_of(trace).launch[first.row()], own);
}

TEST(Links, GraphActivitiesShareOneLaunchAndCarryItsReplay) {
  TraceBuilder builder;
  const SliceId op = builder.op("graph_replay", 0, 100);
  const SliceId first = builder.runtime("cudaGraphLaunch", 10, 5, 1);
  builder.runtime("cudaGraphLaunch", 20, 5, 2);
  const SliceId a = builder.kernel("a", 100, 5, 1).graph_node(7);
  const SliceId b = builder.kernel("b", 110, 5, 1).graph_node(8);
  const SliceId again = builder.kernel("a", 120, 5, 2).graph_node(7);
  builder.runtime("cudaLaunchKernel", 30, 5, 3);
  const SliceId plain = builder.kernel("c", 130, 5, 3);
  const Trace trace = builder.build();
  const Links links = links_of(trace);
  EXPECT_EQ(links.launch[b.row()], first);
  EXPECT_EQ(links.op[b.row()], op);
  EXPECT_EQ(links.replay[a.row()], 1U);
  EXPECT_EQ(links.replay[b.row()], 1U);
  EXPECT_EQ(links.replay[again.row()], 2U);
  EXPECT_EQ(links.replay[plain.row()], 0U);
}

TEST(Links, DifferentGraphsCountTheirReplaysApart) {
  TraceBuilder builder;
  for (int i = 0; i < 4; ++i) {
    builder.runtime("hipGraphLaunch", 10 * i, 5, i + 1);
    builder.kernel(i % 2 == 0 ? "even" : "odd", 100 + 10 * i, 5, i + 1);
  }
  const Trace trace = builder.build();
  const Links links = links_of(trace);
  EXPECT_EQ(links.replay[1], 1U);
  EXPECT_EQ(links.replay[3], 1U);
  EXPECT_EQ(links.replay[5], 2U);
  EXPECT_EQ(links.replay[7], 2U);
}

/// `agreeing` launched kernels whose External id names the right operator, then one that lacks its
/// launch.
Trace with_external_ids(int agreeing, int disagreeing) {
  TraceBuilder builder;
  for (int i = 0; i < agreeing + disagreeing; ++i) {
    const int named = i < agreeing ? i + 1 : 1'000'000;
    builder.op("aten::add", 100 * i, 50).external_id(i + 1);
    builder.runtime("cudaLaunchKernel", 100 * i + 10, 10, i + 1).external_id(named);
    builder.kernel("k", 100 * i + 60, 10, i + 1).external_id(named);
  }
  builder.kernel("lost", 100'000, 10, 999'999).external_id(1);
  return builder.build();
}

TEST(Links, ExternalIdsHelpWhereTheyAgreeWithContainment) {
  const Trace trace = with_external_ids(100, 1);
  const Links links = links_of(trace);
  const std::size_t lost = trace.slices.size() - 1;
  EXPECT_TRUE(links.external_trusted);
  EXPECT_EQ(links.op[lost], SliceId(0));
  EXPECT_EQ(links.attribution[lost], Attribution::by_external);
  EXPECT_EQ(links.without_launch, 1U);
}

TEST(Links, ExternalIdsAreIgnoredWhereTheyDoNotAgree) {
  const Trace trace = with_external_ids(100, 2);
  const Links links = links_of(trace);
  const std::size_t lost = trace.slices.size() - 1;
  EXPECT_FALSE(links.external_trusted);
  EXPECT_DOUBLE_EQ(links.external_agreement, 100.0 / 102.0);
  EXPECT_EQ(links.attribution[lost], Attribution::unattributed);
}

TEST(Links, ActivitiesAreListedByStartThenFileOrder) {
  TraceBuilder builder;
  const SliceId late = builder.kernel("a", 300, 5);
  const SliceId early = builder.kernel("b", 100, 5);
  const SliceId same = builder.copy(CopyKind::h2d, 100, 5);
  builder.gpu_annotation("step", 0, 1000);
  builder.sync("Stream Sync", 0, 10);
  const Trace trace = builder.build();
  EXPECT_EQ(links_of(trace).activities, (std::vector<SliceId>{early, same, late}));
}

TEST(Links, SparseIdsAreFoundToo) {
  TraceBuilder builder;
  const SliceId call = builder.runtime("cudaLaunchKernel", 0, 5, 9'000'000'000'000);
  const SliceId kernel = builder.kernel("a", 10, 5, 9'000'000'000'000);
  const SliceId other = builder.kernel("b", 20, 5, -3);
  const Trace trace = builder.build();
  const Links links = links_of(trace);
  EXPECT_EQ(links.launch[kernel.row()], call);
  EXPECT_FALSE(links.launch[other.row()].valid());
}

}  // namespace
}  // namespace fathom

#include "analysis/accounting/syncs.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

std::vector<SyncCall> syncs_of(const Trace& trace) {
  const Analyses analyses(trace);
  return compute_syncs({.trace = trace, .analyses = analyses, .selection = {}, .options = {}});
}

TEST(Syncs, AreFoundByWhatTheCallDoes) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 0, 5, 1);
  builder.runtime("cudaStreamSynchronize", 10, 5);
  builder.runtime("cudaMemcpy", 20, 5, 2);
  builder.runtime("cudaMemcpyAsync", 30, 5, 3);
  builder.runtime("cudaMemcpyAsync", 40, 5, 4);
  builder.runtime("cudaMemcpyAsync", 50, 5, 5);
  builder.copy(CopyKind::d2h, 31, 2, 3, 8).memory(MemoryKind::device, MemoryKind::pageable);
  builder.copy(CopyKind::d2h, 41, 2, 4, 8).memory(MemoryKind::device, MemoryKind::pinned);
  builder.copy(CopyKind::h2d, 51, 2, 5, 8).memory(MemoryKind::pageable, MemoryKind::device);
  const Trace trace = builder.build();
  const std::vector<SyncCall> syncs = syncs_of(trace);
  ASSERT_EQ(syncs.size(), 3U);
  EXPECT_EQ(syncs[0].reason, SyncReason::synchronize);
  EXPECT_EQ(syncs[1].reason, SyncReason::blocking_copy);
  EXPECT_EQ(syncs[2].reason, SyncReason::pageable_copy);
}

TEST(Syncs, ACallOfManyCopiesWaitsWhenAnyOfThemIsPageable) {
  TraceBuilder builder;
  builder.runtime("cudaMemcpyAsync", 0, 5, 3);
  builder.copy(CopyKind::d2h, 11, 2, 3, 8).memory(MemoryKind::device, MemoryKind::pageable);
  builder.copy(CopyKind::d2h, 21, 2, 3, 8).memory(MemoryKind::device, MemoryKind::pinned);
  const Trace trace = builder.build();
  const std::vector<SyncCall> syncs = syncs_of(trace);
  ASSERT_EQ(syncs.size(), 1U);
  EXPECT_EQ(syncs[0].reason, SyncReason::pageable_copy);
}

TEST(Syncs, KnowTheirOperatorAndPythonFrame) {
  TraceBuilder builder;
  builder.frame("train.py(3): main", 0, 100);
  builder.frame("train.py(9): log", 10, 50);
  builder.op("aten::item", 15, 30);
  builder.op("aten::_local_scalar_dense", 16, 28);
  builder.runtime("cudaStreamSynchronize", 20, 20);
  const Trace trace = builder.build();
  const std::vector<SyncCall> syncs = syncs_of(trace);
  ASSERT_EQ(syncs.size(), 1U);
  EXPECT_EQ(trace.name(syncs[0].op), "aten::_local_scalar_dense");
  EXPECT_EQ(trace.name(syncs[0].frame), "train.py(9): log");
  EXPECT_FALSE(syncs[0].device);
}

TEST(Syncs, MeasureTheIdleTimeTheyLeaveBehindOnce) {
  TraceBuilder builder;
  builder.kernel("a", 0, 95, 77);
  builder.runtime("cudaDeviceSynchronize", 10, 90);  // returns at 100
  builder.runtime("cudaStreamSynchronize", 130, 5);  // in the same gap
  builder.kernel("b", 150, 50, 78);
  builder.runtime("cudaEventSynchronize", 160, 5);  // returns while the device is busy
  builder.runtime("cudaDeviceSynchronize", 190, 30);
  const Trace trace = builder.build();
  const std::vector<SyncCall> syncs = syncs_of(trace);
  ASSERT_EQ(syncs.size(), 4U);
  EXPECT_EQ(to_ns(*syncs[0].idle_after), 30);
  EXPECT_EQ(to_ns(*syncs[1].idle_after), 15);
  EXPECT_EQ(to_ns(*syncs[2].idle_after), 0);
  EXPECT_FALSE(syncs[3].idle_after);  // nothing follows
}

TEST(Syncs, BelongToTheDeviceTheirThreadLaunchedOntoLast) {
  TraceBuilder builder;
  builder.on_thread(1).runtime("cudaLaunchKernel", 0, 5, 1);
  builder.on_thread(2).runtime("cudaLaunchKernel", 0, 5, 2);
  builder.on_stream(7, 0).kernel("a", 10, 10, 1);
  builder.on_stream(7, 1).kernel("b", 10, 10, 2);
  builder.on_thread(2).runtime("cudaDeviceSynchronize", 30, 5);
  builder.on_thread(3).runtime("cudaDeviceSynchronize", 40, 5);
  const Trace trace = builder.build();
  const std::vector<SyncCall> syncs = syncs_of(trace);
  ASSERT_EQ(syncs.size(), 2U);
  EXPECT_EQ(syncs[0].device, 1);
  EXPECT_FALSE(syncs[1].device);
}

TEST(Syncs, AnUploadFromPageableMemoryWaitsWhenItCameBehindOtherWork) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 0, 5, 1);
  builder.runtime("cudaMemcpyAsync", 10, 100, 2);  // returns while the copy runs
  builder.runtime("cudaLaunchKernel", 120, 5, 3);
  builder.runtime("cudaMemcpyAsync", 130, 10, 4);  // small: returns before the copy's turn
  builder.runtime("cudaMemcpyAsync", 400, 30, 5);  // nothing to wait for
  builder.kernel("a", 6, 80, 1);
  builder.copy(CopyKind::h2d, 88, 25, 2, 4096).memory(MemoryKind::pageable, MemoryKind::device);
  builder.kernel("b", 126, 100, 3);
  builder.copy(CopyKind::h2d, 228, 5, 4, 8).memory(MemoryKind::pageable, MemoryKind::device);
  builder.copy(CopyKind::h2d, 410, 25, 5, 4096).memory(MemoryKind::pageable, MemoryKind::device);
  const Trace trace = builder.build();
  const std::vector<SyncCall> syncs = syncs_of(trace);
  ASSERT_EQ(syncs.size(), 1U);
  EXPECT_EQ(syncs[0].reason, SyncReason::pageable_copy);
  EXPECT_EQ(to_ns(trace.slices.start[syncs[0].call.row()]), 10);
}

}  // namespace
}  // namespace fathom

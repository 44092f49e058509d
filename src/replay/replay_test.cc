#include "replay/replay.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"

namespace fathom {
namespace {

/// A trace with its analyses and replay.
class Replayed {
 public:
  explicit Replayed(TraceBuilder& builder)
      : trace_(builder.build()), analyses_(trace_), replay_(Replay::build(context())) {}
  [[nodiscard]] Context context() const { return {trace_, analyses_, {}, {}}; }
  [[nodiscard]] const Replay& replay() const { return replay_; }
  [[nodiscard]] std::int64_t step(const Edits& edits) const {
    return to_ns(replay_.run(edits).median);
  }
  [[nodiscard]] Interval of(SliceId activity, const Edits& edits) const {
    return replay_.activities(edits)[activity.row()];
  }
  [[nodiscard]] std::vector<PathPiece> path() const {
    return replay_.critical_path(context().steps().steps.front());
  }

 private:
  Trace trace_;
  Analyses analyses_;
  Replay replay_;
};

Interval span(std::int64_t begin, std::int64_t end) { return {time_ns(begin), time_ns(end)}; }

TEST(Replay, OfAnEmptyTraceHasNothing) {
  TraceBuilder builder;
  const Replayed trace(builder);
  EXPECT_EQ(trace.step({}), 0);
  EXPECT_EQ(trace.replay().residuals().percent(), 0);
}

TEST(Replay, ScalingAnOperatorScalesItsOwnTimeOnly) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  const SliceId outer = builder.op("aten::linear", 100, 500);
  builder.op("aten::addmm", 200, 300);
  const Replayed trace(builder);
  EXPECT_EQ(trace.step({}), 1000);
  EXPECT_EQ(trace.step({.scale = {{outer, 0.5F}}}), 900);
  EXPECT_EQ(trace.step({.scale = {{outer, 0.0F}}}), 800);
  EXPECT_EQ(trace.step({.scale = {{outer, 2.0F}}}), 1200);
}

TEST(Replay, TheLastOfSeveralFactorsCounts) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  const SliceId op = builder.op("aten::mm", 100, 400);
  const Replayed trace(builder);
  EXPECT_EQ(trace.step({.scale = {{op, 0.0F}, {op, 0.5F}}}), 800);
}

/// Two kernels that keep the device busy longer than the host; the second is launched early.
struct DeviceBound {
  TraceBuilder builder;
  SliceId op, first, second;
  DeviceBound() {
    builder.step(1, 0, 300);
    op = builder.op("aten::mm", 0, 200);
    builder.runtime("cudaLaunchKernel", 10, 10, 1);
    builder.runtime("cudaLaunchKernel", 110, 10, 2);
    first = builder.kernel("gemm", 20, 500, 1);
    second = builder.kernel("relu", 522, 478, 2);
  }
};

TEST(Replay, ScalingAKernelMovesWhatFollowsOnItsStream) {
  DeviceBound parts;
  const Replayed trace(parts.builder);
  EXPECT_EQ(trace.step({}), 1000);
  const Edits half{.scale = {{parts.first, 0.5F}}};
  EXPECT_EQ(trace.of(parts.first, half), span(20, 270));
  EXPECT_EQ(trace.of(parts.second, half), span(272, 750));
  EXPECT_EQ(trace.step(half), 750);
}

TEST(Replay, WhatTheDeviceBoundsDoesNotGetFasterWithTheHost) {
  DeviceBound parts;
  const Replayed trace(parts.builder);
  EXPECT_EQ(trace.step({.scale = {{parts.op, 0.0F}}}), 990);  // the first launch comes earlier
}

TEST(Replay, AKernelDoesNotStartBeforeItIsLaunched) {
  DeviceBound parts;
  const Replayed trace(parts.builder);
  const Edits none{.scale = {{parts.first, 0.0F}, {parts.second, 0.0F}}};
  EXPECT_EQ(trace.of(parts.second, none).begin, time_ns(120));
  EXPECT_EQ(trace.step(none), 300);  // the host's span of the step
}

TEST(Replay, ARemovedLaunchTakesItsActivityAlong) {
  DeviceBound parts;
  TraceBuilder& builder = parts.builder;
  const SliceId third_launch = builder.runtime("cudaLaunchKernel", 210, 20, 3);
  builder.kernel("add", 1002, 98, 3);
  const Replayed trace(builder);
  EXPECT_EQ(trace.step({}), 1100);
  EXPECT_EQ(trace.step({.remove = {third_launch}}), 1000);
}

/// Launch, wait, launch again: a loop with .item().
struct Synced {
  TraceBuilder builder;
  SliceId sync, first, second;
  Synced() {
    builder.step(1, 0, 1600);
    builder.runtime("cudaLaunchKernel", 0, 10, 1);
    sync = builder.runtime("cudaStreamSynchronize", 100, 910);
    builder.runtime("cudaLaunchKernel", 1110, 10, 2);
    builder.runtime("cudaStreamSynchronize", 1590, 5);
    first = builder.kernel("gemm", 10, 990, 1);
    second = builder.kernel("gemm", 1120, 300, 2);
  }
};

TEST(Replay, ASynchronisationReturnsWhenTheDeviceIsDone) {
  Synced parts;
  const Replayed trace(parts.builder);
  EXPECT_EQ(trace.step({}), 1600);
  const Edits half{.scale = {{parts.first, 0.5F}}};
  EXPECT_EQ(trace.of(parts.second, half), span(625, 925));
  EXPECT_EQ(trace.step(half), 1105);
}

TEST(Replay, WithoutTheWaitTheHostGoesOn) {
  Synced parts;
  const Replayed trace(parts.builder);
  // The second launch comes at 205: its kernel follows the first after the least gap that was seen,
  // and the second synchronisation waits for it.
  const Edits edits{.no_wait = {parts.sync}};
  EXPECT_EQ(trace.of(parts.second, edits), span(1120, 1420));
  EXPECT_EQ(trace.step(edits), 1435);
}

TEST(Replay, FreeingTakesTheDriverItsTimeOnceTheDeviceIsDone) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.runtime("cudaLaunchKernel", 10, 10, 1);
  const SliceId kernel = builder.kernel("gemm", 20, 280, 1);
  const SliceId free = builder.runtime("cudaFree", 50, 650, 2);
  const Replayed trace(builder);
  EXPECT_EQ(trace.step({}), 1000);
  EXPECT_EQ(trace.step({.scale = {{free, 0.0F}}}), 600) << "it then only waits for the kernel";
  EXPECT_EQ(trace.step({.scale = {{free, 0.5F}}}), 800);
  EXPECT_EQ(trace.step({.scale = {{kernel, 0.0F}}}), 750) << "what freeing takes stays";
  EXPECT_EQ(trace.replay().residuals().percent(), 0);
}

TEST(Replay, APageableCopyBlocksUntilItIsTakenToNotWaiting) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  const SliceId call = builder.runtime("cudaMemcpyAsync", 100, 600, 1);
  builder.copy(CopyKind::h2d, 150, 540, 1, 4096).memory(MemoryKind::pageable, MemoryKind::device);
  builder.runtime("cudaMemcpyAsync", 900, 20, 2);
  builder.copy(CopyKind::h2d, 905, 10, 2, 8).memory(MemoryKind::pageable, MemoryKind::device);
  const Replayed trace(builder);
  EXPECT_EQ(trace.step({}), 1000);
  EXPECT_LE(trace.step({.no_wait = {call}}), 1000);
}

TEST(Replay, LoadingThatRunsAheadCostsNothingUntilItTakesLongerThanTheRest) {
  TraceBuilder builder;
  std::vector<SliceId> quick;
  for (std::int64_t i = 0; i < 6; ++i) {
    builder.step(i, i * 1000, 1000);
    quick.push_back(builder.annotation("enumerate(DataLoader)#_Iter.__next__", i * 1000, 300));
  }
  const Replayed few(builder);
  EXPECT_EQ(few.step({.overlap = quick}), 700);

  TraceBuilder slow;
  std::vector<SliceId> loads;
  for (std::int64_t i = 0; i < 6; ++i) {
    slow.step(i, i * 1000, 1000);
    loads.push_back(slow.annotation("enumerate(DataLoader)#_Iter.__next__", i * 1000, 800));
  }
  const Replayed many(slow);
  EXPECT_EQ(many.step({.overlap = loads}), 800);
}

TEST(Replay, BackwardWorkOnItsThreadIsWaitedFor) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::mm", 0, 200).sequence(1);
  builder.op("aten::add_", 900, 50);
  builder.on_thread(2);
  const SliceId backward = builder.op("autograd::engine::evaluate_function: MmBackward0", 250, 600);
  const Replayed trace(builder);
  EXPECT_EQ(trace.step({}), 1000);
  EXPECT_EQ(trace.step({.scale = {{backward, 0.5F}}}), 700);
}

TEST(Replay, AThreadThatWorksBesideTheMainThreadIsNotWaitedFor) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("aten::mm", 0, 200);
  builder.op("aten::relu", 300, 200);
  builder.op("aten::add", 600, 200);
  builder.on_thread(2);
  const SliceId beside = builder.op("aten::copy_", 250, 600);
  const Replayed trace(builder);
  EXPECT_EQ(trace.step({.scale = {{beside, 0.0F}}}), 1000);
}

/// Communication on a stream of its own, for which the next kernel's stream waits.
struct Exchange {
  TraceBuilder builder;
  SliceId reduce, update;
  Exchange() {
    builder.step(1, 0, 200);
    for (std::int64_t i = 0; i < 4; ++i) builder.runtime("cudaLaunchKernel", i, 1, 10 + i);
    builder.runtime("cudaLaunchKernel", 20, 10, 2);
    builder.runtime("cudaStreamWaitEvent", 40, 2);
    builder.runtime("cudaLaunchKernel", 50, 10, 3);
    builder.on_stream(7);
    for (std::int64_t i = 0; i < 4; ++i)
      builder.kernel("gemm", 20 + 70 * i, 68, 10 + i);  // until 298
    reduce = builder.on_stream(20).kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 30, 570, 2);
    update = builder.on_stream(7).kernel("adam", 602, 98, 3);
  }
};

TEST(Replay, AStreamThatWaitsForAnEventFollowsTheOtherStream) {
  Exchange parts;
  const Replayed trace(parts.builder);
  const Edits half{.scale = {{parts.reduce, 0.5F}}};
  EXPECT_EQ(trace.of(parts.update, half).begin, time_ns(317));  // 30 + 285 + 2
}

TEST(Replay, HiddenCommunicationDelaysTheEndOfTheStepOnly) {
  Exchange parts;
  const Replayed trace(parts.builder);
  EXPECT_EQ(trace.step({}), 700);
  const Edits hidden{.hide = {parts.reduce}};
  EXPECT_EQ(trace.of(parts.update, hidden).begin, time_ns(300));
  EXPECT_EQ(trace.step(hidden), 600);
}

TEST(Replay, ACapturedGraphCostsTheHostOneLaunch) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.runtime("cudaLaunchKernel", 0, 10, 11);
  builder.runtime("cudaLaunchKernel", 10, 10, 12);
  builder.on_stream(8).kernel("fill", 10, 30, 11);
  builder.kernel("fill", 42, 10, 12);
  builder.on_stream(7);
  for (std::int64_t i = 0; i < 5; ++i) {
    builder.op("aten::add", 100 + 150 * i, 140);
    builder.runtime("cudaLaunchKernel", 110 + 150 * i, 20, i + 1);
    builder.kernel("add", 120 + 150 * i, 50, i + 1);
  }
  const Replayed trace(builder);
  EXPECT_EQ(trace.step({}), 1000);
  // What comes after the begin of the last launch, which is now as early as the first.
  EXPECT_EQ(trace.step({.launch_once = true}), 290);
}

TEST(Replay, OverlapOnOneStreamIsKept) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.runtime("cudaLaunchKernel", 0, 10, 1);
  builder.runtime("cudaLaunchKernel", 20, 10, 2);
  const SliceId first = builder.kernel("producer", 10, 490, 1);
  const SliceId second = builder.kernel("consumer", 400, 300, 2);
  const Replayed trace(builder);
  EXPECT_EQ(trace.of(second, {}), span(400, 700));
  EXPECT_EQ(trace.of(second, {.scale = {{first, 0.5F}}}), span(155, 455));
}

TEST(Replay, ADelayThatNothingExplainsIsAResidualAndStays) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.runtime("cudaLaunchKernel", 0, 10, 1);
  builder.runtime("cudaLaunchKernel", 10, 10, 2);
  builder.runtime("cudaLaunchKernel", 20, 10, 3);
  const SliceId first = builder.kernel("a", 10, 190, 1);
  builder.kernel("b", 202, 98, 2);
  builder.kernel("c", 360, 40, 3);
  const Replayed trace(builder);
  const Residuals residuals = trace.replay().residuals();
  EXPECT_EQ(to_ns(residuals.sum), 58);
  EXPECT_EQ(to_ns(residuals.window), 400);
  // 20 for the launch of b, then b, 2, the residual, c.
  EXPECT_EQ(trace.step({.scale = {{first, 0.0F}}}), 20 + 98 + 2 + 58 + 40);
}

TEST(Replay, TheCriticalPathNamesWhatBoundTheStep) {
  Synced parts;
  const Replayed trace(parts.builder);
  std::vector<std::pair<PathPart, std::int64_t>> parts_of_path;
  for (const PathPiece& piece : trace.path())
    parts_of_path.emplace_back(piece.part, to_ns(piece.interval.length()));
  const std::vector<std::pair<PathPart, std::int64_t>> expected = {
      {PathPart::launch, 10}, {PathPart::device, 990}, {PathPart::wait, 10}, {PathPart::host, 100},
      {PathPart::host, 10},   {PathPart::host, 470},   {PathPart::host, 5},  {PathPart::host, 5}};
  EXPECT_EQ(parts_of_path, expected);
}

TEST(Replay, PredictionsTellWhatBoundsTheStepThen) {
  DeviceBound parts;
  const Replayed trace(parts.builder);
  const Prediction before = trace.replay().run({});
  EXPECT_EQ(to_ns(before.path[static_cast<std::size_t>(PathPart::device)]), 978);
  const Prediction after =
      trace.replay().run({.scale = {{parts.first, 0.0F}, {parts.second, 0.0F}}});
  EXPECT_EQ(to_ns(after.path[static_cast<std::size_t>(PathPart::host)]), 300);
}

TEST(Replay, OfManyStepsPredictsChosenOnes) {
  TraceBuilder builder;
  for (std::int64_t i = 0; i < 200; ++i) {
    builder.step(i, i * 1000, 1000);
    builder.op("aten::mm", i * 1000 + 10, 500);
  }
  const Replayed trace(builder);
  const Prediction prediction = trace.replay().run({});
  EXPECT_EQ(prediction.steps.size(), 24U);
  EXPECT_EQ(to_ns(prediction.median), 1000);
}

TEST(Replay, AnUploadFromPageableMemoryWaitsForEarlierKernels) {
  TraceBuilder builder;
  builder.step(1, 0, 1500);
  builder.runtime("cudaLaunchKernel", 0, 10, 1);
  const SliceId first = builder.kernel("gemm", 10, 890, 1);
  builder.runtime("cudaMemcpyAsync", 100, 850, 2);
  builder
      .copy(CopyKind::h2d, 902, 60, 2, 1 << 20)  // goes on after the call
      .memory(MemoryKind::pageable, MemoryKind::device);
  builder.runtime("cudaLaunchKernel", 1000, 10, 3);
  const SliceId second = builder.kernel("relu", 1010, 400, 3);
  const Replayed trace(builder);
  EXPECT_EQ(trace.step({}), 1500);
  const Edits half{.scale = {{first, 0.5F}}};
  EXPECT_EQ(trace.of(second, half).begin, time_ns(1010 - 445));
  EXPECT_EQ(trace.step(half), 1500 - 445);
}

}  // namespace
}  // namespace fathom

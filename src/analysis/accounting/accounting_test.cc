// Where idle time goes, on traces small enough to be accounted for by hand.
#include "analysis/accounting/accounting.h"

#include <array>
#include <random>

#include <gtest/gtest.h>

#include "analysis/accounting/groups.h"
#include "analysis/context.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

/// The accounting of a trace, with its analyses.
class Accounted {
 public:
  explicit Accounted(TraceBuilder& builder) : trace_(builder.build()), analyses_(trace_) {}
  [[nodiscard]] std::int64_t ns(Bucket bucket) const { return to_ns(whole()[bucket]); }
  [[nodiscard]] Account whole() const { return of(trace_.span); }
  [[nodiscard]] Account of(Interval window) const {
    return account(context_, context_.accounting(), 0, window);
  }
  [[nodiscard]] const DeviceAccounting& device() const { return *context_.accounting().find(0); }
  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] std::int64_t host(HostBucket bucket) const {
    Duration sum{};
    for (const HostPiece& piece : context_.accounting().host) {
      if (piece.bucket == bucket) sum += piece.interval.length();
    }
    return to_ns(sum);
  }

 private:
  Trace trace_;
  Analyses analyses_;
  Context context_{trace_, analyses_, {}, {}};
};

/// A kernel 20 after its launch: what an idle device takes in these traces.
void launch(TraceBuilder& builder, std::int64_t at, std::int64_t duration, std::int64_t id) {
  builder.runtime("cudaLaunchKernel", at, 10, id);
  builder.kernel("gemm", at + 20, duration, id);
}

TEST(Accounting, TimeBeforeALaunchIsWhatItsThreadDid) {
  TraceBuilder builder;
  builder.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 100);
  builder.op("aten::mm", 150, 60);
  launch(builder, 180, 100, 1);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.ns(Bucket::input), 100);
  EXPECT_EQ(accounted.ns(Bucket::python), 50);
  EXPECT_EQ(accounted.ns(Bucket::dispatch), 30);
  EXPECT_EQ(accounted.ns(Bucket::launch_latency), 20);
  EXPECT_EQ(accounted.ns(Bucket::compute), 100);
  EXPECT_EQ(accounted.whole().total(), duration_ns(300));
}

TEST(Accounting, ARequestInALaneIsTheWorkOfTheThreadBesideIt) {
  TraceBuilder builder;
  builder.fact("step_by", "\"request\"");
  const std::int64_t lane = 11 + (std::int64_t{1} << 22);
  builder.on_thread(11).step(0, 0, 100);
  builder.op("aten::mm", 10, 80);
  builder.op("aten::mm", 310, 40);
  builder.on_thread(lane).step(1, 50, 150);   // crosses the first
  builder.on_thread(lane).step(2, 300, 500);  // alone; more than thread 11 has itself
  builder.on_thread(11).op("aten::mm", 900, 10);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.host(HostBucket::python), 20 + 460);
  EXPECT_EQ(accounted.host(HostBucket::waiting), 200 + 110);
}

TEST(Accounting, AllocatingWinsOverTheOperatorAroundIt) {
  TraceBuilder builder;
  builder.op("aten::empty", 0, 100);
  builder.runtime("cudaMalloc", 20, 70);
  launch(builder, 100, 50, 1);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.ns(Bucket::allocation), 70);
  EXPECT_EQ(accounted.ns(Bucket::dispatch), 30);
}

TEST(Accounting, BlockedCallsAreSyncAndOpenTheGapThatFollows) {
  TraceBuilder builder;
  launch(builder, 0, 100, 1);
  builder.op("aten::item", 30, 120);
  const SliceId sync = builder.runtime("cudaStreamSynchronize", 40, 100);
  launch(builder, 200, 50, 2);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.ns(Bucket::sync), 20) << "from the kernel's end to the call's return";
  EXPECT_EQ(accounted.ns(Bucket::dispatch), 10) << "the rest of the operator";
  EXPECT_EQ(accounted.ns(Bucket::python), 50);
  const Gap& gap = accounted.device().gaps.back();
  EXPECT_EQ(gap.opener, Opener::sync_call);
  EXPECT_EQ(gap.opener_call, sync);
  EXPECT_EQ(gap.cause, Bucket::python);
}

TEST(Accounting, QueueThatRunsDryHasTheLateOperator) {
  TraceBuilder builder;
  launch(builder, 0, 100, 1);
  const SliceId late = builder.op("aten::slow", 50, 400);
  builder.op("aten::mm", 450, 50);
  launch(builder, 460, 50, 2);
  const Accounted accounted(builder);
  const Gap& gap = accounted.device().gaps.back();
  EXPECT_EQ(gap.opener, Opener::ran_dry);
  EXPECT_EQ(gap.cause, Bucket::dispatch);
  EXPECT_EQ(gap.late_op, late);
  EXPECT_EQ(gap.interval.length(), duration_ns(360));
}

TEST(Accounting, LateFrameIsTheInnermostThatCoversMostOfTheGap) {
  TraceBuilder builder;
  launch(builder, 0, 100, 1);
  builder.frame("train.py(3): main", 0, 550);
  const SliceId inner = builder.frame("train.py(9): augment", 150, 300);
  launch(builder, 500, 50, 2);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.device().gaps.back().late_frame, inner);
}

TEST(Accounting, WaitingForAnotherStreamsEventIsADependency) {
  TraceBuilder builder;
  builder.on_stream(7);
  launch(builder, 0, 50, 1);
  builder.runtime("cudaEventRecord", 12, 5, 2);
  builder.runtime("cudaStreamWaitEvent", 18, 5, 3);
  builder.runtime("cudaLaunchKernel", 24, 10, 4);
  builder.on_stream(9).kernel("late", 90, 30, 4);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.device().gaps.back().interval.length(), duration_ns(20));
  EXPECT_EQ(accounted.device().gaps.back().cause, Bucket::dependency);
  EXPECT_EQ(accounted.device().gaps.back().opener, Opener::waiting);
}

TEST(Accounting, ActivityWithoutALaunchLeavesTheHostUnknown) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10);
  builder.kernel("orphan", 100, 50);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.ns(Bucket::host_unknown), 100);
}

TEST(Accounting, DelayThatNoLaunchTakesIsNoLaunchLatency) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 100);
  builder.runtime("cudaLaunchKernel", 10, 10, 1);
  builder.kernel("gemm", 50'000'000, 100, 1);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.ns(Bucket::launch_latency), 0);
  EXPECT_GT(accounted.ns(Bucket::device_wait), 49'000'000) << "it did work from before";
}

TEST(Accounting, DelayOfMillisecondsIsTheProfilersAndNoLaunchLatency) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 100);
  builder.runtime("cudaLaunchKernel", 10, 10, 1);
  builder.kernel("gemm", 2'400'000, 100, 1);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.ns(Bucket::launch_latency), 0);
}

TEST(Accounting, CompilingOnceIsWarmUpWithAllOperatorsInIt) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.op("dynamo", 100, 500);
  builder.op("bytecode_tracing (dynamo_timed)", 110, 400);
  builder.op("aten::mm", 120, 300);
  builder.op("aten::mm", 700, 200);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.host(HostBucket::warm_up), 500);
  EXPECT_EQ(accounted.host(HostBucket::python), 300);
  EXPECT_EQ(accounted.host(HostBucket::other_operators), 200);
}

TEST(Accounting, CompilingAgainIsPythonWithAllOperatorsInIt) {
  TraceBuilder builder;
  for (int i = 0; i < 2; ++i) {
    builder.step(i, 1000 * i, 1000);
    builder.op("dynamo", 1000 * i + 100, 500);
    builder.op("aten::mm", 1000 * i + 120, 300);
    builder.op("aten::mm", 1000 * i + 700, 200);
  }
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.host(HostBucket::warm_up), 0);
  EXPECT_EQ(accounted.host(HostBucket::python), 1600);
  EXPECT_EQ(accounted.host(HostBucket::other_operators), 400);
}

TEST(Accounting, MainThreadWaitsInBackwardForCollectivesOfAnother) {
  TraceBuilder builder;
  builder.on_thread(1);
  builder.step(1, 0, 1000);
  builder.op("aten::mm", 0, 100);
  builder.annotation("## backward ##", 100, 800);
  builder.op("aten::mm", 110, 190);
  builder.on_thread(2);
  builder.annotation("gloo:all_reduce", 200, 400);
  builder.annotation("gloo:all_reduce", 250, 450);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.host(HostBucket::communication), 400) << "once the operator is over";
}

TEST(Accounting, ComputeWinsOverCommunicationAndThatOverCopies) {
  TraceBuilder builder;
  builder.on_stream(1).kernel("gemm", 0, 100);
  builder.on_stream(2).kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 50, 100);
  builder.on_stream(3).copy(CopyKind::h2d, 120, 80, kAbsent, 1000);
  builder.on_stream(4).fill(190, 60, kAbsent, 1000);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.ns(Bucket::compute), 100);
  EXPECT_EQ(accounted.ns(Bucket::communication), 50);
  EXPECT_EQ(accounted.ns(Bucket::memcpy), 50);
  EXPECT_EQ(accounted.ns(Bucket::memset), 50);
}

TEST(Accounting, EveryWindowIsAccountedForToTheNanosecond) {
  TraceBuilder builder;
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same trace each time
  std::int64_t at = 0;
  for (std::int64_t id = 1; id <= 200; ++id) {
    at += static_cast<std::int64_t>(random() % 90);
    builder.op("aten::op", at, 30);
    builder.runtime(id % 9 == 0 ? "cudaMemcpy" : "cudaLaunchKernel", at + 5, 10, id);
    builder.on_stream(static_cast<std::int64_t>(random() % 3));
    builder.kernel(id % 5 == 0 ? "ncclKernel" : "gemm",
                   at + 15 + static_cast<std::int64_t>(random() % 40),
                   static_cast<std::int64_t>(random() % 60), id % 11 == 0 ? kAbsent : id);
    at += 30;
  }
  const Accounted accounted(builder);
  for (int i = 0; i < 500; ++i) {
    const auto begin = static_cast<std::int64_t>(random() % 12'000) - 500;
    const Interval window{time_ns(begin),
                          time_ns(begin + static_cast<std::int64_t>(random() % 3000))};
    const Account account = accounted.of(window);
    ASSERT_EQ(account.total(), window.length());
    for (const Duration time : account.time) ASSERT_GE(time, Duration{});
  }
}

/// One thread launches to each of so many devices before the first of them begins.
TraceBuilder on_devices(std::int32_t count) {
  TraceBuilder builder;
  for (std::int32_t i = 0; i < count; ++i) {
    builder.op("aten::mm", i * 100, 60);
    builder.runtime("cudaLaunchKernel", i * 100 + 5, 10, i + 1);
    builder.on_stream(7, i).kernel("gemm", (count + i) * 100, 30, i + 1);
  }
  return builder;
}

std::uint64_t unasked_gaps(const Accounted& accounted) {
  std::uint64_t count = 0;
  for (const DeviceAccounting& device : accounted.context().accounting().devices)
    count += device.unasked_gaps;
  return count;
}

TEST(Accounting, DevicesThatAreIdleForTheSameWorkAreExplainedAsFarAsThatIsBounded) {
  TraceBuilder few = on_devices(32);
  EXPECT_EQ(unasked_gaps(Accounted(few)), 0U);
  TraceBuilder many = on_devices(200);
  const Accounted accounted(many);
  EXPECT_GT(unasked_gaps(accounted), 0U);
  const Interval span = accounted.context().trace.span;
  for (std::int32_t device = 0; device < 200; ++device) {
    const Account account =
        fathom::account(accounted.context(), accounted.context().accounting(), device, span);
    EXPECT_EQ(account.total(), span.length()) << device;
    EXPECT_EQ(account[Bucket::compute], duration_ns(30)) << device;
  }
  const DeviceAccounting& last = *accounted.context().accounting().find(199);
  EXPECT_EQ(last.unasked_gaps, last.gaps.size());
  for (const Gap& gap : last.gaps) EXPECT_EQ(gap.cause, Bucket::host_unknown);
}

TEST(Accounting, CreditedTimesSumToTheBusyTime) {
  TraceBuilder builder;
  builder.on_stream(1).kernel("gemm", 0, 100);
  const SliceId hidden = builder.on_stream(2).kernel("gemm", 20, 50);
  const SliceId last = builder.on_stream(3).kernel("gemm", 90, 40);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.context().accounting().credited[hidden.row()], Duration{});
  EXPECT_EQ(accounted.context().accounting().credited[last.row()], duration_ns(30));
}

TEST(Accounting, WithoutADeviceTheMainThreadIsAccountedFor) {
  TraceBuilder builder;
  builder.on_thread(1);
  builder.step(1, 0, 1000);
  builder.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 200);
  builder.op("aten::linear", 250, 150).sequence(3);
  builder.annotation("Optimizer.step#SGD.step", 700, 100);
  builder.op("aten::add_", 710, 50);
  builder.on_thread(2);
  builder.op("autograd::engine::evaluate_function: AddmmBackward0", 450, 200).sequence(3, 1);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.host(HostBucket::input), 200);
  EXPECT_EQ(accounted.host(HostBucket::forward), 150);
  EXPECT_EQ(accounted.host(HostBucket::backward), 200) << "the main thread waits for it";
  EXPECT_EQ(accounted.host(HostBucket::optimizer), 50);
  EXPECT_EQ(accounted.host(HostBucket::python), 400);
}

/// A forward pass of PyTorch 1.10: record_function("model_inference") was written as an operator.
TEST(Accounting, RangesOfTheProgramAmongOperatorsAreNoOperators) {
  const auto python = [](std::string_view range, std::int64_t sequence, bool annotated,
                         bool holds = true) {
    TraceBuilder builder;
    builder.on_thread(1);
    TraceBuilder::Event op = builder.op(range, 0, 1000);
    if (sequence >= 0) op.sequence(sequence);
    if (holds) {
      builder.op("aten::conv2d", 100, 400).sequence(3);
      builder.op("aten::convolution", 110, 380);
      builder.op("aten::relu", 600, 300).sequence(4);
    }
    if (annotated) builder.annotation("forward", 1000, 100);
    return Accounted(builder).host(HostBucket::python);
  };
  EXPECT_EQ(python("model_inference", -1, false), 300);
  EXPECT_EQ(python("model_inference", 2, false), 0) << "a function of autograd has a number";
  EXPECT_EQ(python("own::model_inference", -1, false), 0);
  EXPECT_EQ(python("model_inference", -1, false, false), 0) << "it may compute by itself";
  EXPECT_EQ(python("Torch-Compiled Region", -1, true), 100) << "ranges are annotations there";
}

TEST(Accounting, WhatLiesInAnOperatorIsNoRangeOfTheProgram) {
  TraceBuilder builder;
  builder.on_thread(1);
  builder.op("aten::detach", 0, 1000);
  builder.op("detach", 100, 800);
  builder.op("aten::alias", 200, 100);
  EXPECT_EQ(Accounted(builder).host(HostBucket::python), 0);
}

TEST(Accounting, OperatorsWithoutQualifiedNamesAreNoRanges) {
  TraceBuilder builder;
  builder.on_thread(1);
  builder.op("conv2d", 0, 1000);
  builder.op("convolution", 100, 800);
  EXPECT_EQ(Accounted(builder).host(HostBucket::python), 0);
}

TEST(Accounting, RangesAmongOperatorsMayBeNested) {
  TraceBuilder builder;
  builder.on_thread(1);
  builder.op("epoch", 0, 1000);
  builder.op("model_inference", 100, 800);
  builder.op("aten::mm", 200, 600);
  EXPECT_EQ(Accounted(builder).host(HostBucket::python), 400);
}

TEST(AccountGroups, IdleTimeBelongsToThePhaseOfWhatEndsItAndFetchingToData) {
  TraceBuilder builder;
  builder.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 100);
  builder.op("aten::mm", 150, 60).sequence(1);
  launch(builder, 180, 100, 1);
  const Accounted accounted(builder);
  const std::array<AccountWindow, 1> windows{{{.interval = {time_ns(0), time_ns(300)}}}};
  std::array<Duration, kPhases> times{};
  for (const AccountGroup& group : group_device(accounted.context(), 0, AccountBy::phase, windows))
    times.at(group.key) = group.time.total();
  EXPECT_EQ(times[static_cast<std::size_t>(Phase::data)], duration_ns(100));
  EXPECT_EQ(times[static_cast<std::size_t>(Phase::forward)], duration_ns(200));
}

TEST(AccountGroups, ARangeBeforeTheForwardPassIsAGroupOfItsOwn) {
  TraceBuilder builder;
  builder.step(0, 0, 1000);
  builder.annotation("augment", 0, 600);
  builder.op("aten::mul", 50, 500).sequence(3);
  builder.op("aten::linear", 700, 100).sequence(3);
  builder.op("autograd::engine::evaluate_function: LinearBackward0", 850, 100).sequence(3, 1);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.host(HostBucket::forward), 100);
  EXPECT_EQ(accounted.host(HostBucket::other_operators), 500);
  const std::array<AccountWindow, 1> windows{{{.interval = {time_ns(0), time_ns(1000)}}}};
  Duration augment{};
  for (const AccountGroup& group :
       group_main_thread(accounted.context(), AccountBy::phase, windows)) {
    if (group.key != kPhases) continue;
    for (const Duration part : group.host) augment += part;
  }
  EXPECT_EQ(to_ns(augment), 600) << "with the Python in it";
}

TEST(Accounting, WaitingBeforeTheFirstActivityOrAfterTheLastHasNoKnownCost) {
  TraceBuilder builder;
  builder.runtime("cudaStreamSynchronize", 0, 100);  // for work from before the recording
  builder.runtime("cudaLaunchKernel", 110, 10, 1);
  builder.kernel("a", 120, 80, 1);
  builder.runtime("cudaStreamSynchronize", 130, 90);
  builder.runtime("cudaLaunchKernel", 230, 10, 2);
  builder.kernel("b", 240, 60, 2);
  builder.runtime("cudaDeviceSynchronize", 250, 1050);  // nothing follows
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  const Context context{trace, analyses, {}, {}};
  const Account whole = account(context, compute_accounting(context), 0, trace.span);
  EXPECT_EQ(to_ns(whole[Bucket::sync]), 20);
  EXPECT_EQ(to_ns(whole[Bucket::host_unknown]), 100 + 1000);
}

TEST(Accounting, FirstWorkThatWaitsLongAfterItsLaunchWaitsForEarlierWork) {
  TraceBuilder builder;
  builder.op("aten::copy_", 500'000, 20'000);
  builder.runtime("cudaMemcpyAsync", 510'000, 10'000, 1);
  builder.copy(CopyKind::d2d, 8'000'000, 1000, 1);
  const Accounted accounted(builder);
  EXPECT_EQ(accounted.ns(Bucket::device_wait), 7'500'000);
  EXPECT_EQ(accounted.ns(Bucket::dispatch), 0);
}

}  // namespace
}  // namespace fathom

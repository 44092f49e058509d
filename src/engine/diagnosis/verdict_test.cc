#include "engine/diagnosis/verdict.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {
namespace {

/// Products of 1 MFLOP take at least 1 µs, and 120,000 bytes at least 120 µs.
constexpr DeviceSpec kDevice{.name = "round numbers",
                             .fp32 = 1e12,
                             .fp32_matrix = 1e12,
                             .bandwidth = 1e9,
                             .pcie_bandwidth = 1e9};

Verdict verdict_of(TraceBuilder& builder, const std::vector<RankedFinding>& findings = {}) {
  const JudgedTrace judged(builder);
  return judge(judged.rules(), spent_by_family(judged.rules()), findings);
}

/// Kernels of `busy` ns that are launched every 100 ns.
TraceBuilder launches(std::int64_t busy) {
  TraceBuilder trace;
  trace.step(1, 0, 5000);
  for (std::int64_t i = 0; i < 49; ++i) {
    const std::int64_t at = 100 * i;
    trace.op("aten::mm", at, 95);
    trace.runtime("cudaLaunchKernel", at + 80, 10, i + 1);
    trace.kernel("ampere_sgemm_128x64_tn", at + 100, busy, i + 1);
  }
  return trace;
}

TEST(Verdict, IsHostBoundWhereTheDeviceWaitsForLaunches) {
  TraceBuilder trace = launches(20);
  const Verdict verdict = verdict_of(trace);
  EXPECT_EQ(verdict.id, VerdictId::host_bound) << verdict.sentence;
  ASSERT_FALSE(verdict.families.empty());
  EXPECT_EQ(verdict.families.front().family, Family::host);
}

TEST(Verdict, NamesLongStepsThatTakeMuchOfTheTime) {
  TraceBuilder trace = launches(99);
  RankedFinding outliers;
  outliers.finding.rule = "step-outliers";
  outliers.finding.key = "outliers";
  outliers.finding.title = "3 steps of 24 far longer than the median of 4 ms";
  outliers.step = duration_ns(1000);
  outliers.observed = duration_ns(600);
  EXPECT_NE(verdict_of(trace, {outliers}).sentence.find("Not in that: 3 steps of 24"),
            std::string::npos);
  outliers.observed = duration_ns(200);
  EXPECT_EQ(verdict_of(trace, {outliers}).sentence.find("Not in that"), std::string::npos);
}

TEST(Verdict, IsLatencyBoundWhereTheDeviceIsBusyWithShortProducts) {
  TraceBuilder trace = launches(99);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::latency_bound);
}

TEST(Verdict, OfTheMainThreadSpeaksOfNoLaunchesAndNoRoof) {
  const auto python = [](const std::vector<RankedFinding>& findings) {
    TraceBuilder trace;
    trace.step(1, 0, 1000);
    trace.op("aten::mm", 0, 300);
    return verdict_of(trace, findings).sentence;
  };
  EXPECT_EQ(python({}),
            "The main thread runs Python outside of operators for 70.0 % of the step. No finding "
            "names a cause: the time is 1 stretch in 1 step, the longest 700 ns, the median 700 "
            "ns.");
  RankedFinding named;
  named.finding.family = Family::host;
  named.upper_bound = duration_ns(100);
  EXPECT_EQ(python({named}),
            "The main thread runs Python outside of operators for 70.0 % of the step.");
  TraceBuilder operators;
  operators.step(1, 0, 1000);
  operators.op("aten::mm", 0, 950);
  const Verdict verdict = verdict_of(operators);
  EXPECT_EQ(verdict.id, VerdictId::compute_bound);
  EXPECT_EQ(verdict.sentence, "The main thread runs operators for 95.0 % of the step.");
}

/// A step of 10 ms on the processor, 7 ms of it in operators, and what the thread's time was.
Verdict of_threads_time(std::string_view computed, std::string_view preempted) {
  TraceBuilder trace;
  trace.step(1, 0, 10'000'000);
  trace.op("aten::mm", 0, 7'000'000);
  trace.fact("thread_time.other.steps", "10").fact("thread_time.other.wall_ns", "1000");
  trace.fact("thread_time.other.cpu_ns", computed);
  trace.fact("thread_time.other.preempted_ns", preempted);
  return verdict_of(trace);
}

TEST(Verdict, DoesNotBlamePythonForTimeWithoutAProcessor) {
  const Verdict free = of_threads_time("950", "50");
  EXPECT_EQ(free.id, VerdictId::host_bound) << free.sentence;
  EXPECT_EQ(free.sentence.find("no processor"), std::string::npos) << free.sentence;
  const Verdict busy = of_threads_time("200", "800");
  EXPECT_EQ(busy.id, VerdictId::compute_bound) << busy.sentence;
  EXPECT_NE(busy.sentence.find("For 80.0 % of its time the thread was ready, but had no processor"),
            std::string::npos)
      << busy.sentence;
}

TEST(Verdict, OfAThreadThatWaitsSaysWhere) {
  const auto sentence = [](std::string_view computed) {
    TraceBuilder trace;
    trace.step(1, 0, 10'000'000);
    trace.op("aten::mm", 0, 1'000'000);
    trace.fact("thread_time.other.steps", "10").fact("thread_time.other.wall_ns", "1000");
    trace.fact("thread_time.other.cpu_ns", computed);
    trace.fact("thread_time.other.preempted_ns", "0");
    trace.fact("thread_time.waits", R"([["serve.py:8 in ask",7]])");
    return verdict_of(trace).sentence;
  };
  EXPECT_TRUE(sentence("150").starts_with(
      "The main thread runs no operator for 90.0 % of the step: mostly it "
      "waits, most often at serve.py:8 in ask."))
      << sentence("150");
  EXPECT_TRUE(sentence("950").starts_with("The main thread runs Python outside of"))
      << sentence("950");
}

/// A step of 100 ms on the processor without shapes: calls of `name` that take so long, ms.
VerdictId of_calls(std::string_view name, std::initializer_list<std::int64_t> calls) {
  TraceBuilder trace;
  trace.step(1, 0, 100'000'000);
  std::int64_t at = 0;
  for (const std::int64_t ms : calls) {
    trace.op(name, at, ms * 1'000'000);
    at += ms * 1'000'000;
  }
  return verdict_of(trace).id;
}

TEST(Verdict, WithoutShapesLongCallsThatHardlyComputeMoveMemory) {
  EXPECT_EQ(of_calls("aten::cat", {30, 30, 30}), VerdictId::memory_bandwidth_bound);
  EXPECT_EQ(of_calls("aten::mm", {30, 30, 30}), VerdictId::compute_bound);
  EXPECT_EQ(of_calls("aten::cat", {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 60}),
            VerdictId::compute_bound)
      << "one of twenty calls that is long was kept from its processor";
}

TEST(Verdict, WithoutShapesOneLongCallOfEachStepMovesMemory) {
  const auto of_steps = [](std::int64_t steps_with_one) {
    TraceBuilder trace;
    for (std::int64_t step = 0; step < 4; ++step) {
      const std::int64_t at = step * 100'000'000;
      trace.step(step, at, 100'000'000);
      for (std::int64_t call = 0; call < 19; ++call)
        trace.op("aten::copy_", at + call * 1'000'000, 990'000);
      const bool copies = step < steps_with_one;
      trace.op(copies ? "aten::copy_" : "aten::mm", at + 19'000'000, 80'000'000);
    }
    return verdict_of(trace).id;
  };
  EXPECT_EQ(of_steps(4), VerdictId::memory_bandwidth_bound);
  EXPECT_EQ(of_steps(3), VerdictId::compute_bound);
}

TEST(Verdict, CannotTellFromTheRestThatAnotherCycleLeaves) {
  TraceBuilder rest;
  rest.step(14, 0, 99'000);
  rest.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 51'000);
  const Verdict verdict = verdict_of(rest);
  EXPECT_EQ(verdict.id, VerdictId::cannot_tell) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("repeat=1"), std::string::npos) << verdict.sentence;
}

TEST(Verdict, NamesPythonWhereItIsNearlyAQuarterOfComputing) {
  const auto python = [](std::int64_t operators) {
    TraceBuilder trace;
    trace.step(1, 0, 10'000);
    trace.op("aten::mm", 0, operators);
    return verdict_of(trace);
  };
  const Verdict near = python(8200);
  EXPECT_EQ(near.id, VerdictId::compute_bound);
  EXPECT_EQ(near.also, std::vector{VerdictId::host_bound});
  EXPECT_EQ(python(9000).also, std::vector<VerdictId>());
}

TEST(Verdict, OfTheMainThreadIsMemoryWhereLargeTensorsAreOnlyMoved) {
  const auto program = [](std::string_view dims, std::string_view op = "aten::clamp_min") {
    TraceBuilder trace;
    trace.step(1, 0, 1000);
    trace.op("aten::addmm", 0, 350);
    trace.op(op, 350, 600).shapes("[" + std::string(dims) + ",[]]").types(R"(["float","Scalar"])");
    return verdict_of(trace);
  };
  const Verdict large = program("[4096,1024]");
  EXPECT_EQ(large.id, VerdictId::memory_bandwidth_bound) << large.sentence;
  EXPECT_EQ(large.sentence,
            "The main thread runs operators for 95.0 % of the step, for 60.0 % such that only move "
            "large tensors through memory.");
  EXPECT_EQ(program("[4096,1024]", "aten::flip").id, VerdictId::memory_bandwidth_bound);
  EXPECT_EQ(program("[40,1024]", "aten::flip").id, VerdictId::compute_bound);
  const Verdict small = program("[40,1024]");
  EXPECT_EQ(small.id, VerdictId::compute_bound) << small.sentence;
}

TEST(Verdict, OfTheMainThreadKnowsWaitsOfWindows) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.op("aten::mm", 0, 300);
  trace.frame("<built-in function WaitForSingleObject>", 300, 700);
  const Verdict verdict = verdict_of(trace);
  EXPECT_EQ(verdict.id, VerdictId::sync_bound) << verdict.sentence;
}

TEST(Verdict, IsWarmUpWhereTheFirstCallsOfAnUnrecordedDeviceTakeTheTime) {
  constexpr std::int64_t kMs = 1'000'000;
  const auto program = [](std::int64_t first) {
    TraceBuilder trace;
    trace.op("aten::cudnn_convolution", 0, first);
    for (std::int64_t i = 0; i < 10; ++i)
      trace.op("aten::cudnn_convolution", first + i * 20 * kMs, 20 * kMs);
    return verdict_of(trace);
  };
  const Verdict once = program(2000 * kMs);
  EXPECT_EQ(once.id, VerdictId::warmup_in_window) << once.sentence;
  EXPECT_EQ(program(20 * kMs).id, VerdictId::cannot_tell);
}

/// A step of 10,000 ns of which the device waits so long for input and copies so long.
Verdict input_beside_copies(std::int64_t input, std::int64_t copies) {
  TraceBuilder trace;
  trace.step(1, 0, 10'000);
  trace.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, input);
  trace.op("aten::copy_", input, 20);
  trace.runtime("cudaMemcpyAsync", input + 5, 10, 1);
  trace.copy(CopyKind::h2d, input + 10, copies, 1);
  trace.op("aten::mm", input + 20, 20);
  trace.runtime("cudaLaunchKernel", input + 25, 10, 2);
  trace.kernel("gemm", input + 10 + copies, 9990 - input - copies, 2);
  return verdict_of(trace);
}

TEST(Verdict, NamesTwoCausesThatAreNearEachOtherTheLargerFirst) {
  const Verdict more_input = input_beside_copies(4200, 4000);
  const Verdict more_copies = input_beside_copies(4000, 4200);
  EXPECT_EQ(more_input.id, VerdictId::input_bound) << more_input.sentence;
  EXPECT_EQ(more_copies.id, VerdictId::transfer_bound) << more_copies.sentence;
  EXPECT_EQ(more_input.also, std::vector<VerdictId>{VerdictId::transfer_bound});
  EXPECT_EQ(more_copies.also, std::vector<VerdictId>{VerdictId::input_bound});
  EXPECT_TRUE(more_input.points_decide);
  EXPECT_EQ(verdict_names(more_input), "input-bound or transfer-bound");
  EXPECT_EQ(verdict_names(more_copies), "transfer-bound or input-bound");
}

TEST(Verdict, NamesOneCauseWhereTheOthersAreFar) {
  const Verdict verdict = input_beside_copies(6000, 1500);
  EXPECT_EQ(verdict.id, VerdictId::input_bound) << verdict.sentence;
  EXPECT_TRUE(verdict.also.empty()) << verdict_names(verdict);
  EXPECT_EQ(verdict_names(verdict), "input-bound");
}

TEST(Verdict, NamesWhatALimitDecides) {
  const Verdict below = input_beside_copies(4150, 10);
  const Verdict above = input_beside_copies(3850, 10);
  EXPECT_EQ(below.id, VerdictId::input_bound) << below.sentence;
  EXPECT_TRUE(std::ranges::count(below.also, above.id)) << above.sentence;
  EXPECT_TRUE(verdict_names(below).starts_with("input-bound")) << verdict_names(below);
}

TEST(Verdict, IsInputBoundWhereTheDeviceWaitsForData) {
  TraceBuilder trace;
  trace.step(1, 0, 10'000);
  trace.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 6000);
  trace.op("aten::mm", 6100, 100);
  trace.runtime("cudaLaunchKernel", 6150, 10, 1);
  trace.kernel("gemm", 6200, 3000, 1);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::input_bound);
}

TEST(Verdict, IsCommunicationBoundWhereCollectivesAreExposed) {
  TraceBuilder trace;
  trace.step(1, 0, 10'000);
  trace.op("aten::mm", 10, 100);
  trace.runtime("cudaLaunchKernel", 50, 10, 1);
  trace.kernel("gemm", 100, 5000, 1);
  trace.runtime("cudaLaunchKernel", 120, 10, 2);
  trace.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", 5100, 4800, 2);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::communication_bound);
}

TEST(Verdict, CannotTellWhereTheDeviceWasNotRecorded) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.op("aten::mm", 10, 100);
  trace.runtime("cudaLaunchKernel", 50, 10, 1);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::cannot_tell);
}

TEST(Verdict, OfAnLstmOnTheProcessorIsNotAboutADevice) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.op("aten::cudnn_is_acceptable", 10, 5);
  trace.op("aten::mkldnn_rnn_layer", 20, 950);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::compute_bound);
}

TEST(Verdict, CannotTellOfWorkOnApplesGpu) {
  const auto beside = [](std::string_view other) {
    TraceBuilder trace;
    trace.step(1, 0, 1000);
    trace.op("aten::mm", 10, 900);
    trace.op("aten::linear_backward", 920, 50);
    trace.op(other, 975, 10);
    return verdict_of(trace).id;
  };
  EXPECT_EQ(beside("aten::mul"), VerdictId::cannot_tell);
  EXPECT_EQ(beside("aten::_nested_tensor_from_mask"), VerdictId::compute_bound)
      << "nested tensors have it, too";
}

TEST(Verdict, DoesNotTakeTheTimeBetweenAProgramsOwnBarsForPython) {
  const auto covered = [](std::int64_t share) {
    TraceBuilder trace;
    trace.slice(SliceKind::other, "Conv3D", 0, share);
    trace.slice(SliceKind::other, "Conv3D", 995, 5);
    return verdict_of(trace);
  };
  EXPECT_EQ(covered(700).id, VerdictId::compute_bound) << covered(700).sentence;
  EXPECT_EQ(covered(400).id, VerdictId::cannot_tell) << covered(400).sentence;
}

TEST(Verdict, CannotTellFromAnnotationsAlone) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.step(2, 1000, 1000);
  const Verdict verdict = verdict_of(trace);
  EXPECT_EQ(verdict.id, VerdictId::cannot_tell) << verdict.sentence;
}

TEST(Verdict, CannotTellOfStepsWithoutWorkWhereLaunchesWereNotRecorded) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.op("aten::mm", 10, 900);
  trace.kernel("gemm", 100, 800, 7);
  trace.step(2, 1000, 1000);
  trace.op("aten::mm", 1010, 900);
  const Verdict verdict = verdict_of(trace);
  EXPECT_EQ(verdict.id, VerdictId::cannot_tell) << verdict.sentence;
}

TEST(Verdict, CannotTellWhereTheHostUsesADeviceThatWasNotRecorded) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.annotation("nccl:all_to_all", 10, 100);
  trace.op("aten::mm", 150, 100);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::cannot_tell);
}

TEST(Verdict, IsCommunicationBoundWhereTheMainThreadWaitsForCollectivesOfAnother) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.op("aten::mm", 10, 100);
  trace.annotation("## backward ##", 120, 800);
  trace.on_thread(2);
  trace.annotation("gloo:all_reduce", 130, 780);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::communication_bound);
}

TEST(Verdict, CannotTellWhereIdleTimeHasNoCause) {
  TraceBuilder trace;
  trace.step(1, 0, 10'000);
  trace.kernel("gemm", 100, 1000, 77);
  trace.kernel("gemm", 9000, 900, 78);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::cannot_tell);
}

TEST(Verdict, IsOfTheMainThreadWithoutADevice) {
  TraceBuilder trace;
  trace.step(1, 0, 1000);
  trace.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 600);
  trace.op("aten::mm", 650, 300);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::input_bound);
}

/// A finding of that rule without claims.
std::vector<RankedFinding> made_by(std::string_view rule, Weight weight) {
  RankedFinding ranked;
  ranked.finding.rule = rule;
  ranked.finding.title = "The GPU runs below its clock";
  ranked.finding.weight = weight;
  return {ranked};
}

TEST(Verdict, IsPhysicallyLimitedWhereABusyDeviceIsThrottled) {
  TraceBuilder trace = launches(99);
  EXPECT_EQ(verdict_of(trace, made_by("throttling", Weight::critical)).id,
            VerdictId::physically_limited);
}

TEST(Verdict, StaysWithTheKernelsWhereTheGpuOnlyMeetsItsPowerLimit) {
  TraceBuilder trace = launches(99);
  EXPECT_EQ(verdict_of(trace, made_by("throttling", Weight::note)).id, VerdictId::latency_bound);
}

TEST(Verdict, StaysHostBoundWhereAThrottledDeviceWaitsForLaunches) {
  TraceBuilder trace = launches(20);
  EXPECT_EQ(verdict_of(trace, made_by("throttling", Weight::critical)).id, VerdictId::host_bound);
}

TEST(Verdict, IsIoBoundWhereTheLoaderWaitsForStorage) {
  TraceBuilder trace;
  trace.step(1, 0, 10'000);
  trace.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 6000);
  trace.op("aten::mm", 6100, 100);
  trace.runtime("cudaLaunchKernel", 6150, 10, 1);
  trace.kernel("gemm", 6200, 3000, 1);
  const Verdict verdict = verdict_of(trace, made_by("io-bound-loader", Weight::critical));
  EXPECT_EQ(verdict.id, VerdictId::io_bound);
  EXPECT_NE(verdict.sentence.find("storage"), std::string::npos);
}

TEST(Verdict, SaysTheNumbersOfTheAccountingWhateverFindingsClaim) {
  TraceBuilder trace;
  trace.step(1, 0, 10'000);
  trace.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 5000);
  trace.op("aten::mm", 8600, 100);
  trace.runtime("cudaLaunchKernel", 8650, 10, 1);
  trace.kernel("gemm", 8700, 1300, 1);
  RankedFinding python;  // claims the Python in a gap that is mostly fetching
  python.finding.family = Family::host;
  python.finding.claims = {{.device = 0, .gap = 0, .time = duration_ns(3000)}};
  const Verdict verdict = verdict_of(trace, {python});
  EXPECT_EQ(verdict.id, VerdictId::input_bound) << verdict.sentence;
  EXPECT_EQ(verdict.sentence,
            "The device waits for input for 50.0 % of the step. No finding names a cause.");
  ASSERT_GE(verdict.families.size(), 2U);
  EXPECT_EQ(verdict.families[0].per_step, duration_ns(5000));
}

TEST(Verdict, OfWaitsTellsBlockedTimeFromCatchingUp) {
  TraceBuilder trace;
  trace.step(1, 0, 10'000);
  trace.runtime("cudaLaunchKernel", 0, 10, 1);
  trace.kernel("gemm", 20, 1980, 1);
  trace.runtime("cudaStreamSynchronize", 30, 2970, 2);  // returns at 3000
  trace.op("aten::mm", 3000, 4000);
  trace.runtime("cudaLaunchKernel", 6990, 10, 3);
  trace.kernel("gemm", 7000, 3000, 3);
  const Verdict verdict = verdict_of(trace);
  EXPECT_EQ(verdict.id, VerdictId::sync_bound) << verdict.sentence;
  EXPECT_EQ(
      verdict.sentence,
      "The device is idle in synchronising calls for 10.0 % of the step, and for 40.0 % after "
      "them until the host has launched again. No finding names a cause.");
}

TEST(Verdict, IsWarmUpWhereTheDeviceWaitsForWhatIsDoneOnce) {
  constexpr std::int64_t kMs = 1'000'000;
  TraceBuilder trace;
  trace.step(1, 0, 10 * kMs);
  trace.op("aten::mm", 10, 8 * kMs);
  trace.runtime("cudaLaunchKernel", 100, 7 * kMs, 1);
  trace.kernel("ampere_sgemm_128x64_tn", 7 * kMs + 200, kMs, 1);
  const Verdict verdict = verdict_of(trace);
  EXPECT_EQ(verdict.id, VerdictId::warmup_in_window) << verdict.sentence;
  ASSERT_FALSE(verdict.families.empty());
  EXPECT_EQ(verdict.families.front().family, Family::capture);
}

TEST(Verdict, CannotTellFromPythonAndCallsWithoutOperators) {
  TraceBuilder trace;
  trace.frame("model.py(10): forward", 0, 1000);
  trace.runtime("cudaDeviceSynchronize", 990, 5);
  const Verdict verdict = verdict_of(trace);
  EXPECT_EQ(verdict.id, VerdictId::cannot_tell) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("no operator ran"), std::string::npos) << verdict.sentence;
}

TEST(Verdict, CannotTellFromCallsOfTheRuntimeAlone) {
  TraceBuilder trace;
  trace.runtime("cudaGetDevice", 0, 10);
  trace.runtime("cudaDeviceSynchronize", 1000, 9000);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::cannot_tell);
  TraceBuilder mock;
  mock.runtime("cudaLaunchKernel", 0, 10, 1);
  mock.kernel("mock", 20, 13, 1);
  mock.runtime("cudaDeviceSynchronize", 1000, 90'000);
  EXPECT_EQ(verdict_of(mock).id, VerdictId::cannot_tell);
}

TEST(Verdict, CannotTellFromCallsWhereTheDeviceIsHardlyBusyAndNothingSaysWhy) {
  const auto busy = [](std::int64_t time) {
    TraceBuilder trace;
    for (const std::int64_t at : {0, 99'000}) {
      trace.runtime("cudaLaunchKernel", at, 10, at + 1);
      trace.kernel("gemm", at + 20, time, at + 1);
    }
    return verdict_of(trace);
  };
  EXPECT_EQ(busy(1000).id, VerdictId::cannot_tell) << busy(1000).sentence;
  EXPECT_NE(busy(1000).sentence.find("a device ran only for 2.0 %"), std::string::npos)
      << busy(1000).sentence;
  EXPECT_EQ(busy(20'000).id, VerdictId::host_bound) << busy(20'000).sentence;
}

/// Three steps of ten operators of 100 µs, one of which takes 8 ms: the n-th of each step, or
/// another of each.
Verdict with_long_calls(bool each_time_another) {
  TraceBuilder trace;
  for (std::int64_t step = 0; step < 3; ++step) {
    std::int64_t at = 10'000'000 * step;
    trace.step(step + 1, at, 10'000'000);
    for (std::int64_t call = 0; call < 10; ++call) {
      const std::int64_t took = call == (each_time_another ? 3 * step : 3) ? 8'000'000 : 100'000;
      trace.op("aten::mul", at, took);
      at += took;
    }
  }
  return verdict_of(trace);
}

TEST(Verdict, CannotTellWhereTheThreadStandsStillInOperators) {
  const Verdict still = with_long_calls(true);
  EXPECT_EQ(still.id, VerdictId::cannot_tell) << still.sentence;
  EXPECT_NE(still.sentence.find("stands still for 79.0 % of the step, in 3 calls"),
            std::string::npos)
      << still.sentence;
  EXPECT_NE(with_long_calls(false).id, VerdictId::cannot_tell);
}

TEST(Verdict, IsWarmUpWhereCallsShowThatMostOfTheTimeIsDoneOnce) {
  TraceBuilder trace;
  trace.runtime("cudaFree", 0, 3'000'000'000);
  for (const std::int64_t at : {3'010'000'000, 3'020'000'000, 3'030'000'000}) {
    trace.runtime("cudaLaunchKernel", at, 10'000, at);
    trace.kernel("gemm", at + 20'000, 1'000'000, at);
  }
  const Verdict verdict = verdict_of(trace);
  EXPECT_EQ(verdict.id, VerdictId::warmup_in_window) << verdict.sentence;
}

TEST(Verdict, IsOfComputingFrom60PercentOnWhateverElseIsLost) {
  TraceBuilder trace = launches(70);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::latency_bound);
}

TEST(Verdict, SaysNoRoofThatTheRooflineDoesNotShow) {
  TraceBuilder trace = launches(99);
  const std::string sentence = verdict_of(trace).sentence;
  EXPECT_NE(sentence.find("not known"), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find("near the compute roof"), std::string::npos) << sentence;
}

TEST(Verdict, NamesEachRoofThatItMayBeWhereTheRooflineShowsTooLittle) {
  TraceBuilder products = launches(99);
  const Verdict any = verdict_of(products);
  EXPECT_FALSE(any.points_decide) << any.sentence;
  EXPECT_EQ(verdict_names(any), "latency-bound, compute-bound or memory-bandwidth-bound");
  ProgramBuilder sums(1'000'000);
  sums.op("aten::add", "void at::native::vectorized_elementwise_kernel<4>", 900'000);
  const JudgedTrace without_shapes(sums.trace(), &kDevice);
  EXPECT_EQ(
      verdict_names(judge(without_shapes.rules(), spent_by_family(without_shapes.rules()), {})),
      "memory-bandwidth-bound or latency-bound")
      << "a sum hardly computes";
}

TEST(Verdict, NamesOneRoofWhereTheRooflineShowsIt) {
  ProgramBuilder program(1'000'000);
  program.op("aten::mm", "sgemm", 600'000)
      .shapes("[[100,100],[100,100]]")
      .types(R"(["float","float"])");
  program.op("aten::add", "void at::native::vectorized_elementwise_kernel<4>", 300'000);
  const JudgedTrace judged(program.trace(), &kDevice);
  const Verdict verdict = judge(judged.rules(), spent_by_family(judged.rules()), {});
  EXPECT_TRUE(verdict.also.empty()) << verdict_names(verdict);
  EXPECT_EQ(verdict.id, VerdictId::memory_bandwidth_bound) << verdict.sentence;
}

TEST(Verdict, IsInputBoundWhereTheRecordingBeginsWithItWhateverTheDeviceDid) {
  const auto with = [](std::int64_t first, std::int64_t fetch) {
    TraceBuilder trace;
    trace.step(1, 0, 1000);
    trace.op("aten::random_", 0, 5);
    trace.op("aten::cudnn_convolution", first, 90);
    trace.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", fetch, 800);
    return verdict_of(trace);
  };
  EXPECT_EQ(with(850, 20).id, VerdictId::input_bound) << with(850, 20).sentence;
  EXPECT_EQ(with(20, 150).id, VerdictId::cannot_tell) << "the device may work meanwhile";
}

TEST(Verdict, SaysFirstThatNothingRanOnTheDevice) {
  TraceBuilder trace;
  trace.device(a100());
  trace.step(1, 0, 1000);
  trace.op("aten::mm", 0, 950);
  trace.runtime("cudaDeviceSynchronize", 960, 10);
  const Verdict verdict = verdict_of(trace);
  EXPECT_EQ(verdict.id, VerdictId::compute_bound);
  EXPECT_TRUE(verdict.sentence.starts_with("On the CPU: nothing ran on NVIDIA A100-SXM4-40GB. "))
      << verdict.sentence;
}

TEST(Verdict, DoesNotSayThatNothingRanOnADeviceThatWasNotTraced) {
  TraceBuilder trace;
  trace.device(a100());
  trace.step(1, 0, 1000);
  trace.op("aten::mm", 0, 950);
  const Verdict verdict = verdict_of(trace);
  EXPECT_TRUE(verdict.sentence.starts_with("What NVIDIA A100-SXM4-40GB did was not recorded. "))
      << verdict.sentence;
}

TEST(Verdict, IsOfAGraphCaptureNotOfKernelsThatWereNotRecorded) {
  TraceBuilder trace;
  trace.step(1, 0, 100'000);
  trace.op("aten::copy_", 0, 20);
  trace.runtime("cudaMemcpyAsync", 5, 5, 1);
  trace.copy(CopyKind::h2d, 20, 100, 1);
  trace.runtime("cudaStreamBeginCapture", 1000, 10);
  for (int i = 0; i < 40; ++i) trace.runtime("cudaLaunchKernel", 2000 + 2000 * i, 10, i + 10);
  trace.runtime("cudaStreamEndCapture", 90'000, 10);
  EXPECT_EQ(verdict_of(trace).id, VerdictId::warmup_in_window);
}

}  // namespace
}  // namespace fathom

#include "analysis/structure/steps.h"

#include <gtest/gtest.h>

#include "analysis/structure/nesting.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

Steps steps_of(const Trace& trace) {
  const Nesting nesting = compute_nesting(trace);
  return compute_steps(trace, compute_links(trace, nesting));
}

/// A launch at `at` of a kernel that runs [start, start + duration).
void launched_kernel(TraceBuilder& builder, std::int64_t at, std::int64_t start,
                     std::int64_t duration) {
  static std::int64_t correlation = 0;
  ++correlation;
  builder.runtime("cudaLaunchKernel", at, 1, correlation);
  builder.kernel("k", start, duration, correlation);
}

void expect_window(const Step& step, std::int64_t begin, std::int64_t end) {
  EXPECT_EQ(to_ns(step.window.begin), begin);
  EXPECT_EQ(to_ns(step.window.end), end);
}

TEST(Steps, BeginAfterAnEvaluationThatLiesBetweenThem) {
  TraceBuilder builder;
  builder.step(7, 100, 100);
  builder.annotation("evaluation", 205, 90);
  builder.step(8, 300, 100);
  builder.step(9, 410, 100);
  builder.annotation("evaluation", 430, 20);  // inside: part of the step
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  ASSERT_EQ(steps.steps.size(), 3U);
  expect_window(steps.steps[0], 100, 200);
  expect_window(steps.steps[1], 295, 400);
  expect_window(steps.steps[2], 400, 510);
}

TEST(Steps, OfAServerAreRequestsInTheThreadsThatAnsweredThem) {
  TraceBuilder builder;
  builder.fact("step_by", "\"request\"");
  builder.on_thread(11).step(0, 100, 50);
  builder.op("aten::mm", 110, 10);
  builder.on_thread(12).step(1, 120, 60);  // while the first runs
  builder.on_thread(13).step(2, 300, 40);
  builder.op("aten::mm", 310, 10);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  EXPECT_TRUE(steps.requests);
  EXPECT_EQ(steps.name, "request");
  EXPECT_TRUE(steps.note.starts_with("Each request is a step, in the thread that answered it; of "))
      << steps.note;
  ASSERT_EQ(steps.steps.size(), 2U);
  // Between two requests is no part of either.
  expect_window(steps.steps[0], 100, 150);
  expect_window(steps.steps[1], 300, 340);
  EXPECT_EQ(steps.steps[1].number, 2);
}

TEST(Steps, OfAServerSayFromWhereTheyAreCounted) {
  TraceBuilder builder;
  builder.fact("step_by", "\"request\"");
  builder.fact("requests_begun_by", R"(["call", "server"])");
  builder.step(0, 100, 50);
  builder.step(1, 200, 50);
  const Trace trace = builder.build();
  EXPECT_TRUE(steps_of(trace).note.starts_with(
      "Each request is a step, in the thread that answered it, from where the server begins to "
      "answer or the model is called; of requests"))
      << steps_of(trace).note;
}

TEST(Steps, EndWithTheLastActivityTheyLaunchedAndTouchTheNext) {
  TraceBuilder builder;
  builder.step(7, 100, 100);
  builder.step(8, 200, 100);
  builder.step(9, 310, 100);
  launched_kernel(builder, 150, 160, 100);  // past the host end of step 7, into step 8's host span
  launched_kernel(builder, 210, 260, 20);
  launched_kernel(builder, 320, 330, 10);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  ASSERT_EQ(steps.steps.size(), 3U);
  EXPECT_EQ(steps.source, StepSource::profiler_step);
  EXPECT_EQ(steps.name, "ProfilerStep*");
  EXPECT_EQ(steps.note, "");
  EXPECT_EQ(steps.steps[0].number, 7);
  expect_window(steps.steps[0], 100, 260);
  expect_window(steps.steps[1], 260, 300);
  expect_window(steps.steps[2], 300, 410);
  EXPECT_EQ(steps.counted().size(), 3U);
}

TEST(Steps, AreNotMarksWithoutADuration) {
  TraceBuilder builder;
  builder.step(1, 100, 0);
  builder.op("aten::mm", 110, 50);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  EXPECT_EQ(steps.source, StepSource::whole_trace);
  expect_window(steps.steps.at(0), 110, 160);
}

TEST(Steps, AreFoundInExportsWithoutCategories) {
  TraceBuilder builder;
  for (const std::int64_t begin : {0, 100}) {
    builder.slice(SliceKind::other, begin == 0 ? "ProfilerStep#1" : "ProfilerStep#2", begin, 90);
    builder.slice(SliceKind::other, "aten::mm", begin + 10, 50);
  }
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  EXPECT_EQ(steps.source, StepSource::profiler_step);
  ASSERT_EQ(steps.counted().size(), 2U);
  expect_window(steps.steps[1], 90, 190);
}

TEST(Steps, CountLaunchesOfEveryThreadAndDeviceOfTheProcess) {
  TraceBuilder builder;
  builder.on_thread(1).step(1, 0, 100);
  builder.on_thread(2).runtime("cudaLaunchKernel", 50, 1, 5);
  builder.on_stream(7, 3).kernel("k", 90, 60, 5);
  const Trace trace = builder.build();
  expect_window(steps_of(trace).steps.at(0), 0, 150);
}

TEST(Steps, OfOneProcessDoNotSeeTheOther) {
  TraceBuilder builder;
  builder.on_thread(1, 100).step(1, 0, 100);
  builder.on_thread(1, 200).step(1, 10, 100);
  builder.runtime("cudaLaunchKernel", 50, 1, 5);
  builder.on_stream(7, 1).kernel("k", 90, 60, 5);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  ASSERT_EQ(steps.steps.size(), 2U);
  expect_window(steps.steps[0], 0, 100);
  expect_window(steps.steps[1], 10, 150);
  EXPECT_FALSE(steps.uses(steps.steps[0], 1));
  EXPECT_TRUE(steps.uses(steps.steps[1], 1));
}

TEST(Steps, HoldingWorkFromBeforeAreEdgeSteps) {
  TraceBuilder builder;
  launched_kernel(builder, 5, 90, 20);  // launched before the first step, runs into it
  builder.step(1, 100, 100);
  builder.step(2, 200, 100);
  launched_kernel(builder, 110, 120, 10);
  launched_kernel(builder, 210, 220, 10);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  EXPECT_TRUE(steps.steps[0].edge);
  EXPECT_FALSE(steps.steps[1].edge);
  ASSERT_EQ(steps.counted().size(), 1U);
  EXPECT_EQ(steps.counted()[0]->number, 2);
}

TEST(Steps, HoldingWorkWithoutALaunchAreEdgeStepsButCountWhenThereIsNoOther) {
  TraceBuilder builder;
  builder.step(1, 100, 100);
  builder.kernel("k", 120, 10, 77);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  EXPECT_TRUE(steps.steps[0].edge);
  EXPECT_EQ(steps.counted().size(), 1U);
}

TEST(Steps, AreNotEdgeWhenTheHostRunsAhead) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.step(2, 100, 100);
  launched_kernel(builder, 10, 20, 200);
  launched_kernel(builder, 110, 220, 50);  // launched before window 2 begins, but within step 2
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  expect_window(steps.steps[1], 220, 270);
  EXPECT_FALSE(steps.steps[1].edge);
}

TEST(Steps, IgnoreTheCopiesOnTheDevice) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.gpu_annotation("ProfilerStep#1", 50, 500);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  ASSERT_EQ(steps.steps.size(), 1U);
  expect_window(steps.steps[0], 0, 100);
}

TEST(Steps, FallBackToARepeatedTopLevelAnnotation) {
  TraceBuilder builder;
  builder.annotation("epoch 1", 0, 300);
  builder.annotation("batch 0", 0, 100);  // inside "epoch 1": not top-level
  builder.annotation("iteration 3", 400, 100);
  builder.annotation("Optimizer.step#SGD.step", 480, 10);
  builder.annotation("iteration 4", 510, 100);
  builder.annotation("Optimizer.step#SGD.step", 590, 10);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  EXPECT_EQ(steps.source, StepSource::annotation);
  EXPECT_EQ(steps.name, "iteration #");
  ASSERT_EQ(steps.steps.size(), 2U);
  EXPECT_EQ(steps.steps[1].number, 1);
  expect_window(steps.steps[1], 500, 610);
  EXPECT_NE(steps.note, "");
}

TEST(Steps, HoldWhatIsLaunchedBetweenTwoAnnotations) {
  TraceBuilder builder;
  builder.annotation("iteration 0", 0, 100);
  builder.annotation("iteration 1", 150, 100);
  builder.annotation("iteration 2", 300, 100);
  launched_kernel(builder, 110, 160, 20);  // the loop's, behind the first
  launched_kernel(builder, 260, 310, 20);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  ASSERT_EQ(steps.source, StepSource::annotation);
  EXPECT_EQ(steps.counted().size(), 3U);
}

TEST(Steps, AreEdgeStepsWhereAnAnnotationHoldsWorkFromBeforeTheFirst) {
  TraceBuilder builder;
  launched_kernel(builder, 5, 110, 20);
  builder.annotation("iteration 0", 100, 100);
  builder.annotation("iteration 1", 200, 100);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  ASSERT_EQ(steps.source, StepSource::annotation);
  EXPECT_EQ(steps.counted().size(), 1U);
}

TEST(Steps, OfAServerAreNoPassesWithoutWork) {
  TraceBuilder builder;
  builder.annotation("execute_context_1(64)_generation_0(0)", 0, 100);
  builder.annotation("execute_context_0(0)_generation_1(1)", 110, 100);
  builder.annotation("execute_context_0(0)_generation_0(0)", 220, 10);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  ASSERT_EQ(steps.source, StepSource::annotation);
  ASSERT_EQ(steps.steps.size(), 3U);
  EXPECT_EQ(steps.counted().size(), 2U);
}

TEST(Steps, FallBackToTheOptimizer) {
  TraceBuilder builder;
  builder.op("aten::mm", 5, 10);
  builder.annotation("logging", 20, 2);
  builder.annotation("Optimizer.step#Adam.step", 50, 10);
  builder.annotation("logging", 80, 2);
  builder.annotation("Optimizer.step#Adam.step", 100, 10);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  EXPECT_EQ(steps.source, StepSource::optimizer);
  EXPECT_EQ(steps.name, "Optimizer.step#Adam.step");
  ASSERT_EQ(steps.steps.size(), 2U);
  expect_window(steps.steps[0], 5, 60);
  expect_window(steps.steps[1], 60, 110);
  EXPECT_TRUE(steps.steps[0].edge);
  EXPECT_FALSE(steps.steps[1].edge);
}

TEST(Steps, FallBackToTheWholeTraceOfOperatorsCallsAndActivities) {
  TraceBuilder builder;
  builder.annotation("once", 0, 1000);
  builder.op("aten::mm", 10, 5);
  launched_kernel(builder, 12, 30, 70);
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  EXPECT_EQ(steps.source, StepSource::whole_trace);
  ASSERT_EQ(steps.steps.size(), 1U);
  expect_window(steps.steps[0], 0, 100);  // from the begin of what is around the first operator
  EXPECT_NE(steps.note.find("\"once\""), std::string::npos) << steps.note;
  EXPECT_EQ(steps.counted().size(), 1U);
}

TEST(Steps, OfAnEmptyTraceAreOneEmptyStep) {
  const Trace trace = TraceBuilder().build();
  const Steps steps = steps_of(trace);
  ASSERT_EQ(steps.steps.size(), 1U);
  EXPECT_EQ(to_ns(steps.steps[0].window.length()), 0);
}

TEST(Steps, AMarkWithNothingInItAtTheEndDoesNotCount) {
  TraceBuilder builder;
  builder.step(3, 0, 1000);
  builder.op("aten::mm", 10, 50);
  launched_kernel(builder, 20, 100, 800);
  builder.step(4, 1010, 30);
  builder.runtime("cudaDeviceSynchronize", 1015, 5);  // the profiler stops
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  ASSERT_EQ(steps.steps.size(), 2U);
  EXPECT_TRUE(steps.steps[1].empty);
  ASSERT_EQ(steps.counted().size(), 1U);
  EXPECT_EQ(steps.counted().front()->number, 3);
}

TEST(Steps, AreNotTheOnlyMarkWhereAllWorkIsBeforeIt) {
  TraceBuilder builder;
  builder.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 60);
  builder.op("aten::stack", 20, 40);
  builder.op("aten::mm", 100, 20);
  builder.step(1, 130, 5);
  builder.runtime("cudaDeviceSynchronize", 132, 10, 1);  // of the profiler that stops
  const Trace trace = builder.build();
  const Steps steps = steps_of(trace);
  EXPECT_EQ(steps.source, StepSource::whole_trace);
  ASSERT_EQ(steps.steps.size(), 1U);
  EXPECT_EQ(to_ns(steps.steps[0].window.begin), 10);  // with the range around the first work
  TraceBuilder with_work;
  with_work.op("aten::mm", 100, 20);
  with_work.step(1, 130, 50);
  with_work.op("aten::mm", 140, 20);
  const Trace whole = with_work.build();
  EXPECT_EQ(steps_of(whole).source, StepSource::profiler_step);
}

TEST(Steps, CountTheLastOneWhereNothingWasRecordedInAnyOfThem) {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  builder.step(2, 1000, 1000);
  const Trace trace = builder.build();
  EXPECT_EQ(steps_of(trace).counted().size(), 2U);
}

TEST(Steps, AreNotTheAnnotationsInsideOneOperator) {
  TraceBuilder builder;
  builder.op("model::forward", 0, 1000);
  for (std::int64_t i = 0; i < 9; ++i) builder.annotation("layer", 10 + 100 * i, 95);
  const Trace trace = builder.build();
  EXPECT_EQ(steps_of(trace).source, StepSource::whole_trace);
}

TEST(Steps, AreNotTheShortNamesakesOfOneLongAnnotation) {
  TraceBuilder builder;
  builder.annotation("generate", 0, 1'400'000'000);
  builder.op("aten::mm", 10, 1'300'000'000);
  for (std::int64_t i = 0; i < 69; ++i)
    builder.annotation("generate", 1'400'000'000 + 18'500 * i, 18'000);
  const Trace trace = builder.build();
  EXPECT_EQ(steps_of(trace).source, StepSource::whole_trace);
}

TEST(Steps, LeaveTheProfilersOwnWaitOutWhereNoDeviceDidAnything) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 500);
  builder.runtime("cudaDeviceSynchronize", 510, 900);
  const Trace trace = builder.build();
  expect_window(steps_of(trace).steps[0], 0, 500);
}

}  // namespace
}  // namespace fathom

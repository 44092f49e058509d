#include "store/merge.h"

#include <gtest/gtest.h>

#include "store/trace_builder.h"
#include "store/validate.h"

namespace fathom {
namespace {

/// A trace whose time zero is `origin` of Unix time.
Trace at(TraceBuilder& builder, std::int64_t origin) {
  Trace trace = builder.build();
  trace.origin_ns = origin;
  trace.origin_is_unix = true;
  return trace;
}

Trace base_trace(bool steps = true) {
  TraceBuilder builder;
  builder.on_thread(100, 100);
  if (steps) builder.step(1, 1000, 1000);
  builder.op("aten::mm", 1100, 900);
  return at(builder, 50'000);
}

std::vector<std::string> names(const Trace& trace) {
  std::vector<std::string> found;
  for (std::size_t row = 0; row < trace.slices.size(); ++row)
    found.emplace_back(trace.name(SliceId(row)));
  return found;
}
using Names = std::vector<std::string>;

MergeCounts merge(Trace& base, const Trace& other, const MergeOptions& options = {}) {
  const MergeCounts counts = merge_into(base, other, options);
  EXPECT_EQ(broken_promise(base), "");
  return counts;
}

TEST(Merge, TimesAreShiftedExactlyByTheDifferenceOfTheOrigins) {
  Trace base = base_trace();
  TraceBuilder builder;
  builder.on_thread(7, 7).annotation("worker", 201'234, 77);
  const Trace other = at(builder, 50'000 - 200'000);
  merge(base, other);
  ASSERT_EQ(names(base), (Names{"ProfilerStep#1", "aten::mm", "worker"}));
  EXPECT_EQ(to_ns(base.slices.start[2]), 1234);
  EXPECT_EQ(to_ns(base.slices.duration[2]), 77);
  EXPECT_EQ(base.track(SliceId(2)).pid, 7);
}

TEST(Merge, LinesOfBothStayAndASourceIsKeptOnce) {
  Trace base = base_trace();
  Trace other = base_trace();
  for (Trace* trace : {&base, &other}) {
    const StringId file = trace->strings.intern("a.py");
    const StringId text = trace->strings.intern(trace == &base ? "mine" : "theirs");
    trace->lines.push_back({.file = file, .function = text, .first = 3, .hits = 5});
    trace->sources.push_back({file, text});
  }
  merge(base, other);
  ASSERT_EQ(base.lines.size(), 2U);
  EXPECT_EQ(base.text(base.lines[1].function), "theirs");
  EXPECT_EQ(base.text(base.lines[1].file), "a.py");
  ASSERT_EQ(base.sources.size(), 1U);
  EXPECT_EQ(base.text(base.sources[0].text), "mine");
}

TEST(Merge, CallersKeepTheirNames) {
  Trace base = base_trace();
  Trace other = base_trace();
  for (Trace* trace : {&base, &other}) {
    const StringId file = trace->strings.intern("a.py");
    const StringId called = trace->strings.intern(trace == &base ? "mine" : "theirs");
    const StringId caller = trace->strings.intern("main");
    trace->function_calls.push_back(
        {.file = file, .name = called, .caller_file = file, .caller_name = caller, .calls = 5});
  }
  merge(base, other);
  ASSERT_EQ(base.function_calls.size(), 2U);
  EXPECT_EQ(base.text(base.function_calls[1].name), "theirs");
  EXPECT_EQ(base.text(base.function_calls[1].caller_name), "main");
  EXPECT_EQ(base.text(base.function_calls[1].caller_file), "a.py");
}

TEST(Merge, StacksKeepTheirFrames) {
  const auto with_stack = [](std::string_view function, std::int64_t origin) {
    TraceBuilder builder;
    Trace trace = at(builder, origin);
    const StringId name = trace.strings.intern(function);
    trace.stack_frames.push_back({.function = name, .file = name, .line = 1});
    trace.stack_frames.push_back({.parent = 0, .function = name, .file = name, .line = 2});
    trace.stack_samples.push_back({.pid = 1,
                                   .tid = 1,
                                   .time = time_ns(500),
                                   .thread = name,
                                   .frame = 1,
                                   .on_cpu = duration_ns(5),
                                   .cause = name,
                                   .object = name});
    return trace;
  };
  Trace base = with_stack("f", 1000);
  merge(base, with_stack("g", 3000), {.within_span = false});
  ASSERT_EQ(base.stack_samples.size(), 2U);
  const StackSample& added = base.stack_samples[1];
  EXPECT_EQ(to_ns(added.time), 2500);
  EXPECT_EQ(added.frame, 3U);
  EXPECT_EQ(base.stack_frames[added.frame].parent, 2U);
  EXPECT_EQ(base.text(base.stack_frames[added.frame].function), "g");
}

TEST(Merge, WhatLiesOutsideOfTheBaseIsCountedAndLeftOut) {
  Trace base = base_trace();
  TraceBuilder builder;
  builder.on_thread(7, 7);
  builder.annotation("before", 0, 1000);
  builder.annotation("reaches in", 900, 101);
  builder.annotation("after", 2000, 5);
  builder.instant("early", 10);
  builder.instant("inside", 1500);
  const Trace other = at(builder, 50'000);
  const MergeCounts counts = merge(base, other);
  EXPECT_EQ(names(base).back(), "reaches in");
  EXPECT_EQ(counts.slices, 1U);
  EXPECT_EQ(counts.slices_outside, 2U);
  EXPECT_EQ(counts.instants_outside, 1U);
  EXPECT_EQ(base.span, (Interval{time_ns(1000), time_ns(2000)}));
}

TEST(Merge, SamplesOfTheWholeRunAreTakenAndTheSpanStays) {
  Trace base = base_trace();
  TraceBuilder builder;
  for (const std::int64_t time : {100, 1200, 3000})
    builder.sample("power", time, static_cast<double>(time));
  const MergeCounts counts = merge(base, at(builder, 50'000));
  const std::vector<double> values(base.samples.value.begin(), base.samples.value.end());
  EXPECT_EQ(values, (std::vector<double>{100, 1200, 3000}));
  EXPECT_EQ(counts.samples, 3U);
  EXPECT_EQ(base.span, (Interval{time_ns(1000), time_ns(2000)}));
}

TEST(Merge, StepsOfTheWholeRunAreToldOnTheClockOfTheBase) {
  Trace base = base_trace();
  TraceBuilder builder;
  builder.on_thread(100, 100);
  builder.step(0, 100, 500);
  builder.step(1, 1000, 1000);
  builder.step(2, 4000, 10);
  const MergeCounts counts = merge(base, at(builder, 50'000));
  ASSERT_EQ(counts.steps.size(), 3U);
  EXPECT_EQ(counts.steps[0][1], 100);
  EXPECT_EQ(counts.steps[2][2], 4010);
}

TEST(Merge, WhatWasSaidOfASliceStaysWithIt) {
  Trace base = base_trace();
  TraceBuilder builder;
  builder.on_thread(7, 7);
  builder.annotation("before", 0, 10).argument("domain", "left out");
  builder.annotation("inside", 1100, 10).argument("domain", "library").argument("payload", "3");
  const Trace other = at(builder, 50'000);
  merge(base, other);
  ASSERT_EQ(base.slice_arguments.size(), 2U);
  EXPECT_EQ(base.argument(SliceId(base.slices.size() - 1), "domain"), "library");
  EXPECT_EQ(base.argument(SliceId(base.slices.size() - 1), "payload"), "3");
}

TEST(Merge, SlicesOfAThreadThatTheBaseRecordedLieBesideIt) {
  Trace base = base_trace();
  TraceBuilder builder;
  builder.on_thread(100, 100).annotation("forward", 1050, 100);
  merge(base, at(builder, 50'000));
  const Track& track = base.track(SliceId(2));
  EXPECT_EQ(track.kind, TrackKind::async);
  EXPECT_EQ(base.text(track.thread), "fathom 100");
}

TEST(Merge, StepsOfTheBaseAreNotCountedTwice) {
  Trace base = base_trace();
  TraceBuilder builder;
  builder.on_thread(100, 100).step(1, 1000, 1000);
  const MergeCounts counts = merge(base, at(builder, 50'000));
  EXPECT_EQ(counts.slices_known, 1U);
  EXPECT_EQ(names(base), (Names{"ProfilerStep#1", "aten::mm"}));
}

TEST(Merge, StepsAndFetchesThatTheBaseLacksLieOnItsThread) {
  Trace base = base_trace(false);
  TraceBuilder builder;
  builder.on_thread(100, 100).step(1, 1000, 1000);
  builder.annotation("enumerate(DataLoader)#loader", 1200, 50);
  merge(base, at(builder, 50'000));
  EXPECT_EQ(base.slices.track[1], base.slices.track[0]);
  EXPECT_EQ(base.slices.track[2], base.slices.track[0]);
}

TEST(Merge, WithoutABoundAllIsTakenAndTheSpanWidens) {
  Trace base = base_trace();
  TraceBuilder builder;
  builder.on_thread(100, 100).annotation("late", 5000, 10);
  MergeOptions options;
  options.within_span = false;
  merge(base, at(builder, 50'000), options);
  EXPECT_EQ(base.span, (Interval{time_ns(1000), time_ns(5010)}));
  EXPECT_EQ(base.slices.track[2], base.slices.track[0]);
}

TEST(Merge, WithoutACommonClockOnlyWhatHasNoTimeIsTaken) {
  Trace base = base_trace();
  TraceBuilder builder;
  builder.on_thread(7, 7).annotation("worker", 1500, 77);
  builder.fact("seed", "42");
  Trace other = builder.build();
  other.process_runs.push_back({.pid = 7, .start_ns = 10, .wall_ns = 5});
  const MergeCounts counts = merge(base, other);
  EXPECT_TRUE(counts.no_common_clock);
  EXPECT_EQ(base.slices.size(), 2U);
  EXPECT_EQ(base.fact("seed")->value, "42");
  ASSERT_EQ(base.process_runs.size(), 1U);
  EXPECT_EQ(base.process_runs[0].start_ns, kAbsent);
  EXPECT_EQ(base.process_runs[0].wall_ns, 5);
}

TEST(Merge, AProcessLastsFromTheEarliestStartToTheLatestEnd) {
  Trace base = base_trace();
  base.process_runs.push_back({.pid = 100, .start_ns = 900, .end_ns = 5000, .wall_ns = 4100});
  TraceBuilder builder;
  Trace other = at(builder, 50'500);
  other.process_runs.push_back({.pid = 100, .start_ns = 0, .end_ns = 5100, .wall_ns = 5100});
  merge(base, other);
  ASSERT_EQ(base.process_runs.size(), 1U);
  EXPECT_EQ(base.process_runs[0].start_ns, 500);
  EXPECT_EQ(base.process_runs[0].end_ns, 5600);
  EXPECT_EQ(base.process_runs[0].wall_ns, 5100);
}

TEST(Merge, WhatOneSaysOfAProcessCompletesWhatTheOtherSays) {
  Trace base = base_trace();
  base.process_runs.push_back({.pid = 100, .rank = 1, .start_ns = 3, .user_ns = 9});
  TraceBuilder builder;
  Trace other = at(builder, 50'500);
  other.process_runs.push_back({.pid = 7, .start_ns = 1});
  other.process_runs.push_back(
      {.pid = 100, .status = 0, .start_ns = 77, .user_ns = 10, .peak_bytes = 8});
  merge(base, other);
  ASSERT_EQ(base.process_runs.size(), 2U);
  EXPECT_EQ(base.process_runs[0].start_ns, 501);
  const ProcessRun& run = base.process_runs[1];
  EXPECT_EQ(run.rank, 1);
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.start_ns, 3);
  EXPECT_EQ(run.user_ns, 9);
  EXPECT_EQ(run.peak_bytes, 8);
}

TEST(Merge, AFactThatDiffersIsKeptUnderItsFilesName) {
  Trace base = base_trace();
  base.facts.push_back({"seed", "1"});
  TraceBuilder builder;
  builder.fact("seed", "2").fact("same", "3");
  MergeOptions options;
  options.prefix = "monitor.fathom";
  merge(base, at(builder, 50'000), options);
  EXPECT_EQ(base.fact("seed")->value, "1");
  EXPECT_EQ(base.fact("monitor.fathom seed")->value, "2");
  EXPECT_EQ(base.fact("same")->value, "3");
}

TEST(Merge, NumbersStayWithTheirSlices) {
  Trace base = base_trace();
  TraceBuilder builder;
  builder.on_thread(7, 7);
  builder.annotation("outside", 0, 1);
  const SliceId numbered = builder.annotation("fetch", 1500, 10);
  Trace other = at(builder, 50'000);
  other.numbers = {{SliceId(0), 3}, {numbered, 4}};
  merge(base, other);
  EXPECT_EQ(base.number(SliceId(2)), 4);
  EXPECT_EQ(base.number(SliceId(1)), kAbsent);
}

TEST(Merge, DeviceWorkThatTheBaseDoesNotHaveIsTaken) {
  Trace base = base_trace();
  TraceBuilder builder;
  builder.kernel("gemm", 1200, 10);
  const MergeCounts counts = merge(base, at(builder, 50'000));
  EXPECT_EQ(counts.activities, 1U);
  EXPECT_EQ(base.slices.size(), 3U);
}

}  // namespace
}  // namespace fathom

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "formats/format.h"
#include "store/validate.h"
#include "wire/writer.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class FathomWire : public testing::Test {
 public:
  FathomWire() {
    std::string pattern = (fs::temp_directory_path() / "fathom_format_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    path_ = (folder_ / "a.fathom").string();
    Result<std::unique_ptr<wire::Writer>> writer = wire::Writer::open(path_);
    if (writer) writer_ = std::move(*writer);
  }
  ~FathomWire() override { fs::remove_all(folder_); }
  FathomWire(const FathomWire&) = delete;
  FathomWire& operator=(const FathomWire&) = delete;

 protected:
  Trace read() {
    if (writer_) writer_->close();
    Result<Trace> trace = read_trace(path_, {});
    EXPECT_TRUE(trace.ok()) << (trace ? "" : trace.error().message);
    if (!trace) return {};
    EXPECT_EQ(broken_promise(*trace), "");
    return std::move(*trace);
  }
  static SliceId slice_named(const Trace& trace, std::string_view name) {
    for (std::size_t row = 0; row < trace.slices.size(); ++row) {
      if (trace.name(SliceId(row)) == name) return SliceId(row);
    }
    return {};
  }

  fs::path folder_;
  std::string path_;
  std::unique_ptr<wire::Writer> writer_;
};

TEST_F(FathomWire, TimesCountFromTheFirstAndTheOriginIsUnixTime) {
  const std::int64_t start = wire::monotonic_ns();
  const std::int64_t unix = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                std::chrono::system_clock::now().time_since_epoch())
                                .count();
  writer_->slice(start + 500, 100, 1, 1, "b", "annotation");
  writer_->slice(start, 2000, 1, 1, "a", "annotation");
  const Trace trace = read();
  EXPECT_EQ(trace.format, "fathom-wire");
  EXPECT_TRUE(trace.origin_is_unix);
  EXPECT_LT(std::abs(trace.origin_ns - unix), 50'000'000);
  EXPECT_EQ(to_ns(trace.slices.start[slice_named(trace, "b").row()]), 500);
  EXPECT_EQ(trace.span, (Interval{time_ns(0), time_ns(2000)}));
}

TEST_F(FathomWire, StepsAndFetchesAreNamedAsTorchNamesThem) {
  writer_->slice(10, 5, 1, 1, "batch", "step", 7);
  writer_->slice(10, 2, 1, 1, "Images", "loader.fetch", 3);
  const Trace trace = read();
  const SliceId step = slice_named(trace, "ProfilerStep#7");
  const SliceId fetch = slice_named(trace, "enumerate(DataLoader)#Images");
  ASSERT_TRUE(step.valid() && fetch.valid());
  EXPECT_EQ(trace.kind(step), SliceKind::user_annotation);
  EXPECT_EQ(trace.kind(fetch), SliceKind::user_annotation);
  EXPECT_EQ(trace.number(fetch), 3);
}

TEST_F(FathomWire, BeginsAndEndsNestAndWhatIsOpenEndsWithTheFile) {
  writer_->begin(10, 1, 1, "outer", "annotation");
  writer_->begin(20, 1, 1, "inner", "annotation");
  writer_->begin(25, 1, 2, "other thread", "annotation");
  writer_->end(30, 1, 1);
  writer_->instant(100, 1, 1, "last", "");
  const Trace trace = read();
  const auto duration = [&](std::string_view name) {
    return to_ns(trace.slices.duration[slice_named(trace, name).row()]);
  };
  EXPECT_EQ(duration("inner"), 10);
  EXPECT_EQ(duration("outer"), 90);
  EXPECT_EQ(duration("other thread"), 75);
  EXPECT_EQ(trace.import.total(), 0U);
}

TEST_F(FathomWire, ArgumentsAreOfTheSliceBeginOrInstantBeforeThem) {
  const std::array<wire::Argument, 2> two = {wire::Argument{"domain", "library"},
                                             wire::Argument{"payload", "-5"}};
  const std::array<wire::Argument, 1> one = {wire::Argument{"category", "io"}};
  writer_->begin(10, 1, 1, "outer", "annotation", two);
  wire::Slice inner{20, 5, 1, 1, "inner", "annotation", -1, {}};
  inner.arguments = one;
  writer_->slices(std::span(&inner, 1));
  writer_->instant(30, 1, 1, "mark", "annotation", one);
  writer_->end(40, 1, 1);
  const Trace trace = read();
  const SliceId outer = slice_named(trace, "outer");
  ASSERT_EQ(trace.arguments(outer).size(), 2U);
  EXPECT_EQ(trace.argument(outer, "domain"), "library");
  EXPECT_EQ(trace.argument(outer, "payload"), "-5");
  EXPECT_EQ(trace.argument(outer, "category"), "");
  EXPECT_EQ(trace.argument(slice_named(trace, "inner"), "category"), "io");
  ASSERT_EQ(trace.instant_arguments.size(), 1U);
  EXPECT_EQ(trace.text(trace.instant_arguments[0].value), "io");
}

TEST_F(FathomWire, AnEndWithoutABeginIsCounted) {
  writer_->end(30, 1, 1);
  writer_->instant(100, 1, 1, "last", "");
  EXPECT_EQ(read().import[Repair::unmatched_end].count, 1U);
}

TEST_F(FathomWire, PhasesLieBesideTheThread) {
  writer_->slice(0, 100, 5, 5, "main", "phase");
  writer_->slice(10, 20, 5, 5, "work", "annotation");
  const Trace trace = read();
  EXPECT_EQ(trace.track(slice_named(trace, "main")).kind, TrackKind::async);
  EXPECT_EQ(trace.track(slice_named(trace, "work")).kind, TrackKind::host_thread);
  EXPECT_EQ(to_ns(trace.span.end), 100);
}

TEST_F(FathomWire, CountersHaveTheirUnitAndDevice) {
  const std::uint32_t power = writer_->counter(0, 1, "gpu.power", "watts");
  const std::uint32_t memory = writer_->counter(12, -1, "resident", "bytes");
  writer_->sample(10, power, 300);
  writer_->sample(20, memory, 1e9);
  writer_->sample(30, power, 310);
  const Trace trace = read();
  ASSERT_EQ(trace.tracks.size(), 2U);
  EXPECT_EQ(trace.text(trace.tracks[0].name), "gpu.power");
  EXPECT_EQ(trace.text(trace.tracks[0].unit), "watts");
  EXPECT_EQ(trace.tracks[0].device, 1);
  EXPECT_EQ(trace.tracks[1].pid, 12);
  ASSERT_EQ(trace.samples.size(), 3U);
  EXPECT_EQ(trace.samples.track[2], TrackId(0));
  EXPECT_EQ(trace.samples.value[2], 310);
}

TEST_F(FathomWire, ProcessesHaveTheirExitAndTheirRank) {
  writer_->process(10, 7, 1, 2, "python", "rank");
  writer_->exit({.time = 50, .pid = 7, .status = 9, .user = 3, .peak = 100, .wall = 40});
  const Trace trace = read();
  ASSERT_EQ(trace.process_runs.size(), 1U);
  const ProcessRun& run = trace.process_runs.front();
  EXPECT_EQ(run.start_ns, 0);
  EXPECT_EQ(run.end_ns, 40);
  EXPECT_EQ(run.status, 9);
  EXPECT_EQ(run.user_ns, 3);
  EXPECT_EQ(run.system_ns, kAbsent);
  EXPECT_EQ(trace.text(run.role), "rank");
  ASSERT_TRUE(trace.distributed.has_value());
  EXPECT_EQ(trace.distributed->rank, 2);
}

TEST_F(FathomWire, FactsAreJsonAndThoseOfOtherProcessesSaySo) {
  writer_->process(1, 7, 1, -1, "python", "main");
  writer_->fact(0, "seed", "say \"42\"");
  writer_->fact(7, "shape", "[1, 2]");
  writer_->fact(8, "seed", "43");
  const Trace trace = read();
  ASSERT_NE(trace.fact("seed"), nullptr);
  EXPECT_EQ(trace.fact("seed")->value, "\"say \\\"42\\\"\"");
  EXPECT_EQ(trace.fact("shape")->value, "[1,2]");
  EXPECT_EQ(trace.fact("process 8 seed")->value, "\"43\"");
}

TEST_F(FathomWire, WhatTheRecorderDroppedIsALoss) {
  writer_->dropped("slices", 12);
  const Trace trace = read();
  EXPECT_EQ(trace.import[Repair::dropped_records].count, 12U);
  EXPECT_EQ(trace.import[Repair::dropped_records].example, "slices");
}

TEST_F(FathomWire, FunctionsAreKept) {
  writer_->function(
      {.pid = 1, .file = "a.py", .line = 4, .name = "f", .calls = 9, .total = 8, .self = 7});
  const Trace trace = read();
  ASSERT_EQ(trace.functions.size(), 1U);
  EXPECT_EQ(trace.text(trace.functions[0].name), "f");
  EXPECT_EQ(to_ns(trace.functions[0].self), 7);
}

TEST_F(FathomWire, LinesAreKept) {
  writer_->line({.pid = 1, .file = "a.py", .first = 4, .last = 6, .function = "f", .hits = 9});
  writer_->line({.pid = 1, .file = "a.py", .first = 7, .total = 8, .self = -7});
  const Trace trace = read();
  ASSERT_EQ(trace.lines.size(), 1U);
  EXPECT_EQ(trace.text(trace.lines[0].function), "f");
  EXPECT_EQ(trace.lines[0].last, 6U);
  EXPECT_EQ(trace.lines[0].hits, 9U);
  EXPECT_EQ(trace.import[Repair::number_out_of_range].example, "line");
}

TEST_F(FathomWire, PartsOfFunctionsAndLinesHaveTheirStepAndTime) {
  writer_->process(1000, 7, 1, -1, "python", "main");
  writer_->function_part({.start = 1100,
                          .duration = 50,
                          .pid = 7,
                          .step = 3,
                          .file = "a.py",
                          .line = 4,
                          .name = "f",
                          .calls = 2,
                          .total = 40,
                          .self = 30});
  writer_->function_part({.start = 1100, .pid = 7, .name = "f", .total = -1});
  writer_->line_part({.start = 1150,
                      .duration = 20,
                      .pid = 7,
                      .file = "a.py",
                      .first = 5,
                      .last = 6,
                      .function = "f",
                      .function_line = 4,
                      .hits = 9,
                      .total = 8,
                      .self = 7});
  writer_->line_part({.start = -5, .pid = 7, .function = "f"});
  const Trace trace = read();
  ASSERT_EQ(trace.function_parts.size(), 1U);
  const FunctionPart& function = trace.function_parts.front();
  EXPECT_EQ(trace.text(function.time.name), "f");
  EXPECT_EQ(function.step, 3);
  EXPECT_EQ(to_ns(function.when.begin), 100);
  EXPECT_EQ(to_ns(function.when.end), 150);
  EXPECT_EQ(function.time.calls, 2U);
  ASSERT_EQ(trace.line_parts.size(), 1U);
  const LinePart& line = trace.line_parts.front();
  EXPECT_EQ(line.step, kAbsent);
  EXPECT_EQ(to_ns(line.when.begin), 150);
  EXPECT_EQ(line.time.function_line, 4U);
  EXPECT_EQ(line.time.hits, 9U);
  EXPECT_EQ(trace.functions.size() + trace.lines.size(), 0U);
  EXPECT_EQ(trace.import[Repair::number_out_of_range].count, 2U);
}

TEST_F(FathomWire, FunctionsHaveTheirCallersAndPrimitiveCalls) {
  writer_->process(1000, 7, 1, -1, "python", "main");
  const auto function = [this](std::string_view name) {
    writer_->function({.pid = 7, .file = "a.py", .line = 4, .name = name, .calls = 5});
  };
  function("f");
  writer_->function_calls({.pid = 7, .file = "a.py", .line = 4, .name = "f", .primitive = 3});
  writer_->function_calls(
      {.pid = 7, .file = "a.py", .line = 4, .name = "f", .calls = 5, .primitive = 2});
  function("g");
  // Not of the function before it, and one of no time that can be.
  writer_->function_calls(
      {.pid = 7, .file = "a.py", .line = 4, .name = "f", .calls = 5, .primitive = 1});
  writer_->function_calls({.pid = 7, .name = "f", .caller_name = "g", .total = -1});
  writer_->function_calls({.pid = 7,
                           .file = "a.py",
                           .line = 4,
                           .name = "g",
                           .caller_file = "b.py",
                           .caller_line = 6,
                           .caller_name = "f",
                           .calls = 2,
                           .primitive = 9,
                           .total = 8,
                           .self = 3});
  const Trace trace = read();
  ASSERT_EQ(trace.functions.size(), 2U);
  EXPECT_EQ(trace.functions[0].primitive, 2U);
  EXPECT_EQ(trace.functions[1].primitive, 0U);
  ASSERT_EQ(trace.function_calls.size(), 1U);
  const FunctionCalls& calls = trace.function_calls.front();
  EXPECT_EQ(trace.text(calls.name), "g");
  EXPECT_EQ(trace.text(calls.caller_name), "f");
  EXPECT_EQ(trace.text(calls.caller_file), "b.py");
  EXPECT_EQ(calls.caller_line, 6U);
  EXPECT_EQ(calls.calls, 2U);
  EXPECT_EQ(calls.primitive, 2U) << "no more than all";
  EXPECT_EQ(to_ns(calls.total), 8);
  EXPECT_EQ(trace.import[Repair::number_out_of_range].count, 1U);
}

TEST_F(FathomWire, CallsAreFramesOfTheirThread) {
  const wire::Argument open{"open", "when the recording ended"};
  const wire::Slice made{.start = 100,
                         .duration = 50,
                         .pid = 1,
                         .tid = 7,
                         .name = "a.py(4): f",
                         .category = "python_function",
                         .arguments = {&open, 1}};
  writer_->slices({&made, 1});
  const Trace trace = read();
  const SliceId call = slice_named(trace, "a.py(4): f");
  ASSERT_TRUE(call.valid());
  EXPECT_EQ(trace.kind(call), SliceKind::python_function);
  EXPECT_EQ(trace.track(call).kind, TrackKind::host_thread);
  EXPECT_EQ(trace.argument(call, "open"), "when the recording ended");
}

TEST_F(FathomWire, TheTimelineOfLinesLiesBesideTheThreads) {
  writer_->slice(100, 50, 1, 7, "a", "annotation");
  writer_->line_run({.start = 90,
                     .duration = 30,
                     .pid = 1,
                     .tid = 7,
                     .file = "a.py",
                     .first = 4,
                     .function = "f"});
  writer_->line_run({.start = 120, .duration = 30, .pid = 1, .tid = 1, .file = "a.py", .first = 5});
  writer_->line_run({.start = -1, .duration = 30, .pid = 1, .tid = 1, .file = "a.py"});
  const Trace trace = read();
  const SliceId run = slice_named(trace, "a.py:4 f");
  ASSERT_TRUE(run.valid());
  EXPECT_EQ(to_ns(trace.slices.duration[run.row()]), 30);
  EXPECT_EQ(trace.track(run).kind, TrackKind::async);
  EXPECT_EQ(trace.text(trace.track(run).thread), "line 7");
  EXPECT_EQ(trace.track(run).tid, 7);
  EXPECT_EQ(trace.text(trace.track(slice_named(trace, "a.py:5 ")).thread), "line");
  EXPECT_EQ(trace.import[Repair::number_out_of_range].count, 1U);
}

TEST_F(FathomWire, StacksShareTheirFrames) {
  const wire::StackFrame main{.number = 1, .function = "main", .file = "a.py", .line = 3};
  const wire::StackFrame work{.number = 2, .function = "work", .file = "a.py", .line = 9};
  const auto record = [](std::int64_t time, std::int64_t on_cpu) {
    return wire::StackRecord{.time = time,
                             .pid = 7,
                             .tid = 8,
                             .thread = "python",
                             .frame = 0,
                             .on_cpu = on_cpu,
                             .queued = 2,
                             .blocked = 3,
                             .cause = "lock",
                             .object = "futex"};
  };
  writer_->stack(record(1000, 5), std::vector{main, work});
  writer_->flush();
  writer_->stack(record(2000, 6), std::vector{main, work});
  writer_->stack(record(3000, 7), {});
  writer_->stack(record(4000, -7), {});
  const Trace trace = read();
  ASSERT_EQ(trace.stack_samples.size(), 3U);
  EXPECT_EQ(trace.stack_frames.size(), 2U);
  const StackSample& first = trace.stack_samples[0];
  EXPECT_EQ(first.frame, trace.stack_samples[1].frame);
  EXPECT_EQ(trace.text(trace.stack_frames[first.frame].function), "work");
  EXPECT_EQ(trace.stack_frames[first.frame].parent, 0U);
  EXPECT_EQ(trace.stack_frames[first.frame].line, 9);
  EXPECT_EQ(trace.text(first.cause), "lock");
  EXPECT_EQ(trace.text(first.thread), "python");
  EXPECT_EQ(to_ns(trace.stack_samples[1].time - first.time), 1000);
  EXPECT_EQ(to_ns(trace.stack_samples[2].on_cpu), 7);
  EXPECT_EQ(trace.stack_samples[2].frame, kNoFrame);
  EXPECT_EQ(trace.import[Repair::number_out_of_range].count, 1U);
}

TEST_F(FathomWire, AProcessWithoutAnEndLastsAsLongAsItsSamples) {
  writer_->process(100, 7, 1, -1, "app.py", "main");
  writer_->stack({.time = 900,
                  .pid = 7,
                  .tid = 7,
                  .thread = "python",
                  .frame = 0,
                  .on_cpu = 5,
                  .queued = 0,
                  .blocked = 0,
                  .cause = "",
                  .object = ""},
                 {});
  EXPECT_EQ(to_ns(read().span.length()), 800);
}

TEST_F(FathomWire, TheRecordersOwnThreadIsNoneOfTheProgram) {
  const auto add = [this](std::int64_t tid, std::int64_t time,
                          const std::vector<wire::StackFrame>& frames) {
    writer_->stack({.time = time,
                    .pid = 7,
                    .tid = tid,
                    .thread = "python",
                    .frame = 0,
                    .on_cpu = 5,
                    .queued = 0,
                    .blocked = 100,
                    .cause = "lock",
                    .object = "futex"},
                   frames);
  };
  const wire::StackFrame begin{
      .number = 1, .function = "_bootstrap", .file = "/lib/python3.11/threading.py", .line = 9};
  const wire::StackFrame ticker{.number = 2,
                                .function = "Ticker._loop",
                                .file = "/x/fathom_hook/fathom_recorder/ticker.py",
                                .line = 70};
  const wire::StackFrame user{.number = 3, .function = "f", .file = "app.py", .line = 3};
  const wire::StackFrame unread{
      .number = 4, .function = "(stack not read)", .file = "", .line = -1};
  const wire::StackFrame wrapper{.number = 5,
                                 .function = "_bootstrap_inner",
                                 .file = "/x/hook/fathom_recorder/threads.py",
                                 .line = 41};
  add(7, 1000, {ticker});  // the main thread, in what the recorder does at its end
  add(8, 1000, {ticker});  // with each way to begin a thread
  add(8, 2000, {unread});  // and one that was not read whole
  add(9, 1000, {begin, ticker});
  add(10, 1000, {user, ticker});  // the program's, which has called the recorder
  add(11, 1000, {begin});
  add(12, 1000, {ticker});
  add(12, 2000, {user});  // the number of a thread of the program, later
  // As threads of the program begin.
  add(13, 1000, {begin, wrapper, begin, user});
  add(14, 1000, {begin, wrapper});
  const Trace trace = read();
  std::vector<std::int64_t> threads;
  for (const StackSample& sample : trace.stack_samples) threads.push_back(sample.tid);
  EXPECT_EQ(threads, (std::vector<std::int64_t>{7, 10, 11, 12, 12, 13, 14}));
  ASSERT_NE(trace.fact("samples.of_recorder_ns"), nullptr);
  EXPECT_EQ(trace.fact("samples.of_recorder_ns")->value, "\"15\"");
}

TEST_F(FathomWire, NumbersThatCannotBeTrueAreCountedAndLeftOut) {
  writer_->slice(-5, 10, 1, 1, "before the start", "annotation");
  writer_->slice(INT64_MAX, 10, 1, 1, "never", "annotation");
  writer_->slice(5, -10, 1, 1, "backwards", "annotation");
  writer_->slice(5, INT64_MAX, 1, 1, "for ever", "annotation");
  const Trace trace = read();
  EXPECT_EQ(trace.slices.size(), 2U);
  EXPECT_EQ(trace.import[Repair::number_out_of_range].count, 2U);
  EXPECT_EQ(trace.import[Repair::negative_duration].count, 1U);
  EXPECT_EQ(trace.import[Repair::absurd_duration].count, 1U);
}

TEST_F(FathomWire, BytesThatAreNoUtf8AreMended) {
  writer_->slice(1, 1, 1, 1, "caf\xe9", "annotation");
  const Trace trace = read();
  EXPECT_EQ(trace.name(SliceId(0)), "caf\xEF\xBF\xBD");
  EXPECT_EQ(trace.import[Repair::invalid_utf8].count, 1U);
}

TEST_F(FathomWire, DamageIsInTheImportLog) {
  for (int i = 0; i < 3; ++i) {
    writer_->instant(i, 1, 1, "i", "");
    writer_->flush();
  }
  writer_->close();
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(70);
  file.put('?');
  file.close();
  fs::resize_file(path_, fs::file_size(path_) - 3);
  const Trace trace = read();
  EXPECT_EQ(trace.instants.size(), 1U);
  EXPECT_EQ(trace.import[Repair::damaged_block].count, 2U);
  EXPECT_EQ(trace.import[Repair::truncated].count, 1U);
  EXPECT_EQ(trace.import[Repair::damaged_block].first_offset, 8U);
}

TEST_F(FathomWire, AFileOfALaterVersionIsRefusedWithAdvice) {
  writer_.reset();
  std::ofstream(path_, std::ios::binary) << std::string("FATHOM\x02\x00", 8) << "whatever";
  const Result<Trace> trace = read_trace(path_, {});
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("version 2"), std::string::npos);
}

TEST_F(FathomWire, AFileWithoutABlockIsAnEmptyRecording) {
  const Trace trace = read();
  EXPECT_EQ(trace.slices.size(), 0U);
  EXPECT_EQ(trace.import.total(), 0U);
}

}  // namespace
}  // namespace fathom

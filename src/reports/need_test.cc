// What reports need: each table of the store is missed where it is empty, and only there.
#include "reports/need.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "reports/answer.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

bool holds(const Trace& trace, StoreTable table) {
  const Analyses analyses(trace);
  const Context context{.trace = trace, .analyses = analyses, .selection = {}, .options = {}};
  return !missing(context, {.table = table}).has_value();
}

bool holds(TraceBuilder& builder, StoreTable table) { return holds(builder.build(), table); }

constexpr StoreTable kTables[] = {
    StoreTable::activities, StoreTable::kernels,       StoreTable::copies,
    StoreTable::calls,      StoreTable::module_frames, StoreTable::loader_slices,
    StoreTable::ranges,     StoreTable::counters,      StoreTable::functions,
    StoreTable::lines,      StoreTable::process_runs,  StoreTable::stack_samples,
    StoreTable::work,       StoreTable::operators,     StoreTable::stacks,
};

TEST(Need, MissesEveryTableInAnEmptyTrace) {
  const Trace trace;
  for (const StoreTable table : kTables) EXPECT_FALSE(holds(trace, table));
}

TEST(Need, SaysWhyAProfileThatWasAskedForIsNotThere) {
  TraceBuilder builder;
  builder.fact("process-7.not_recorded",
               R"([{"what": "single calls", "why": "of another", "remedy": ""},)"
               R"( {"what": "lines", "why": "memory ran out", "remedy": "give it more"}])");
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  const Context context{.trace = trace, .analyses = analyses, .selection = {}, .options = {}};
  EXPECT_EQ(missing(context, {.table = StoreTable::lines}),
            "The recording holds no profile of lines: memory ran out; give it more.");
  const std::string otherwise = missing(context, {.table = StoreTable::functions}).value_or("");
  EXPECT_NE(otherwise.find("fathom run --with functions"), std::string::npos) << otherwise;
}

TEST(Need, FindsWhatTheTraceHolds) {
  TraceBuilder kernel;
  kernel.op("aten::mm", 0, 100);
  kernel.runtime("cudaLaunchKernel", 10, 10, 1);
  kernel.kernel("gemm", 50, 100, 1);
  const Trace with_kernel = kernel.build();
  EXPECT_TRUE(holds(with_kernel, StoreTable::activities));
  EXPECT_TRUE(holds(with_kernel, StoreTable::kernels));
  EXPECT_TRUE(holds(with_kernel, StoreTable::calls));
  EXPECT_FALSE(holds(with_kernel, StoreTable::copies));
  EXPECT_FALSE(holds(with_kernel, StoreTable::module_frames));
  EXPECT_FALSE(holds(with_kernel, StoreTable::ranges));
  EXPECT_TRUE(holds(with_kernel, StoreTable::work));
  EXPECT_TRUE(holds(with_kernel, StoreTable::operators));
  EXPECT_TRUE(holds(with_kernel, StoreTable::stacks));

  TraceBuilder copy;
  copy.copy(CopyKind::h2d, 0, 10, 1, 4);
  const Trace with_copy = copy.build();
  EXPECT_TRUE(holds(with_copy, StoreTable::activities));
  EXPECT_TRUE(holds(with_copy, StoreTable::copies));
  EXPECT_FALSE(holds(with_copy, StoreTable::kernels));
  EXPECT_FALSE(holds(with_copy, StoreTable::calls));

  TraceBuilder module;
  module.frame("nn.Module: Net_0", 0, 100);
  module.op("aten::mm", 10, 10);
  EXPECT_TRUE(holds(module, StoreTable::module_frames));

  TraceBuilder loader;
  loader.annotation("enumerate(DataLoader)#x", 0, 100).category("loader.fetch");
  EXPECT_TRUE(holds(loader, StoreTable::loader_slices));

  TraceBuilder counter;
  counter.sample("power", 0, 1);
  EXPECT_TRUE(holds(counter, StoreTable::counters));
}

TEST(Need, FindsFunctionsAndProcesses) {
  Trace trace;
  trace.functions.push_back({});
  trace.process_runs.push_back({});
  EXPECT_TRUE(holds(trace, StoreTable::functions));
  EXPECT_TRUE(holds(trace, StoreTable::process_runs));
  EXPECT_TRUE(holds(trace, StoreTable::stacks));
  EXPECT_FALSE(holds(trace, StoreTable::work));
}

TEST(Need, FindsRangesAndMarks) {
  TraceBuilder range;
  range.annotation("read", 0, 10);
  EXPECT_TRUE(holds(range, StoreTable::ranges));
  TraceBuilder mark;
  mark.instant("saved", 5);
  EXPECT_TRUE(holds(mark, StoreTable::ranges));
}

TEST(Need, NeitherPausesNorTheRecordersOwnSpanAreWork) {
  TraceBuilder builder;
  builder.slice(SliceKind::trace_span, "main", 0, 1000).category("phase");
  EXPECT_FALSE(holds(builder, StoreTable::work));
  TraceBuilder paused;
  paused.slice(SliceKind::other, "garbage collection", 100, 10).category("gc");
  const Trace pauses = paused.build();
  EXPECT_FALSE(holds(pauses, StoreTable::work));
  EXPECT_TRUE(holds(pauses, StoreTable::stacks));
  TraceBuilder plain;
  plain.slice(SliceKind::other, "load", 100, 10).category("app");
  EXPECT_TRUE(holds(plain, StoreTable::work));
}

/// Every recording has something to say about itself, and how sound it is.
constexpr std::string_view kOfEveryRecording[] = {"info", "health", "overview"};

TEST(Need, EveryOtherReportNamesWhatItNeeds) {
  for (const Report& report : all_reports()) {
    const bool of_every =
        std::ranges::find(kOfEveryRecording, report.id) != std::ranges::end(kOfEveryRecording);
    EXPECT_EQ(report.needs.empty(), of_every) << report.id;
  }
}

TEST(Need, WithoutAnythingEveryReportAbstainsAndSaysWhy) {
  const Trace trace;
  for (const Report& report : all_reports()) {
    if (report.needs.empty()) continue;
    const Answer answer(report.id, trace);
    EXPECT_EQ(answer.rows(), 0U) << report.id;
    ASSERT_EQ(answer.notes().size(), 1U) << report.id;
    EXPECT_FALSE(answer.notes()[0].empty()) << report.id;
  }
}

TEST(Need, WhatHoldsNoWorkNamesTheReportOfWhatItHolds) {
  Trace sampled;
  sampled.stack_samples.push_back({});
  Trace profiled;
  profiled.functions.push_back({});
  for (const char* const id : {"ops", "steps", "critical-path", "accounting"}) {
    EXPECT_EQ(Answer(id, sampled).notes().at(0),
              "The recording holds neither operators nor steps. It holds samples of threads: see "
              "fathom hot.");
    EXPECT_EQ(Answer(id, profiled).notes().at(0),
              "The recording holds neither operators nor steps. It holds a profile of functions: "
              "see fathom functions.");
    EXPECT_EQ(Answer(id, profiled).rows(), 0U) << id;
  }
  const Answer overview("overview", sampled);
  ASSERT_GT(overview.rows(), 0U) << "its health";
  for (std::size_t row = 0; row < overview.rows(); ++row)
    EXPECT_EQ(overview.text(row, "section"), "capture");
  EXPECT_TRUE(overview.notes().at(0).starts_with("The recording holds neither operators"));
}

TEST(Need, AReportThatMissesOneSaysSoAndHasNoRows) {
  TraceBuilder host_only;
  host_only.op("aten::mm", 0, 100);
  const Trace trace = host_only.build();
  for (const Report& report : all_reports()) {
    const bool held = std::ranges::all_of(
        report.needs, [&](const Need& need) { return holds(trace, need.table); });
    const Answer answer(report.id, trace);
    // Of the work that one needs, none is a collective.
    EXPECT_EQ(answer.rows() > 0, held && report.id != "collectives") << report.id;
    if (!held) {
      ASSERT_EQ(answer.notes().size(), 1U) << report.id;
    }
  }
  EXPECT_EQ(Answer("gaps", trace).notes()[0],
            "The trace holds no device activity. Only the host was recorded: the program used no "
            "GPU, or was profiled without ProfilerActivity.CUDA.");
  EXPECT_EQ(Answer("energy", trace).notes()[0],
            "No telemetry was recorded: record with fathom run.")
      << "a report may say it in its own words";
}

constexpr const char* kTables4[] = {"kernels", "copies", "launches", "syncs"};

TEST(Need, TablesOfADeviceSayWhyTheyHaveNoRows) {
  TraceBuilder host_only;
  host_only.op("aten::mm", 0, 100);
  const Trace host = host_only.build();
  for (const char* const id : kTables4)
    EXPECT_NE(Answer(id, host).notes()[0].find("Only the host was recorded"), std::string::npos)
        << id;

  TraceBuilder copy;
  copy.copy(CopyKind::h2d, 0, 10, 1, 4);
  const Trace copies = copy.build();
  EXPECT_EQ(Answer("kernels", copies).notes()[0],
            "The trace holds no kernels. Of the device it holds 1 copy or fill.");
  EXPECT_NE(Answer("syncs", copies).notes()[0].find("Only the device's side"), std::string::npos);

  TraceBuilder lost;
  lost.op("aten::mm", 0, 100);
  lost.runtime("cudaLaunchKernel", 10, 10, 1);
  const Trace unrecorded = lost.build();
  EXPECT_NE(Answer("kernels", unrecorded).notes()[0].find("1 call of the runtime or driver"),
            std::string::npos);
  EXPECT_EQ(Answer("syncs", unrecorded).notes().at(0),
            "None of the recorded calls waits for a device.");
}

TEST(Need, WhatTheSelectionLeavesNothingOfIsSaid) {
  TraceBuilder builder;
  builder.step(1, 0, 100);
  builder.op("aten::mm", 0, 50);
  builder.runtime("cudaDeviceSynchronize", 20, 20);
  builder.runtime("cudaLaunchKernel", 10, 5, 1);
  builder.kernel("gemm", 50, 10, 1);
  builder.copy(CopyKind::h2d, 70, 10, 1, 4);
  builder.step(2, 200, 100);
  builder.op("aten::mm", 210, 50);
  const Trace trace = builder.build();
  Selection second;
  second.steps = Selection::StepRange{2, 2};
  for (const char* const id : kTables4) {
    EXPECT_GT(Answer(id, trace).rows(), 0U) << id;
    const Answer answer(id, trace, std::string(), second);
    EXPECT_EQ(answer.rows(), 0U) << id;
    ASSERT_FALSE(answer.notes().empty()) << id;
    EXPECT_NE(answer.notes().back().find("--steps"), std::string::npos) << id;
  }
}

}  // namespace
}  // namespace fathom

// telemetry, processes and loader: what a capture of Fathom's own adds.
#include <csignal>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/accounting/accounting.h"
#include "reports/answer.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

Value whole(std::int64_t value) { return Value(value); }
Value text(const char* value) { return Value(std::string_view(value)); }
const Value kNull;

TEST(TelemetryReport, PercentilesAreSamplesThatOccurred) {
  TraceBuilder builder;
  builder.op("work", 0, 1000);
  for (std::int64_t i = 1; i <= 40; ++i) builder.sample("power", i * 10, static_cast<double>(i));
  const Answer table("telemetry", builder.build());
  ASSERT_EQ(table.rows(), 1U);
  const auto of = [&](std::string_view column) { return table.at(0, column); };
  EXPECT_EQ(of("samples"), whole(40));
  EXPECT_EQ(of("min"), Value(1.0));
  EXPECT_EQ(of("mean"), Value(20.5));
  EXPECT_EQ(of("p50"), Value(20.0));
  EXPECT_EQ(of("p95"), Value(38.0));
  EXPECT_EQ(of("max"), Value(40.0));
  EXPECT_EQ(of("change"), Value(39.0));
}

TEST(TelemetryReport, OnlySamplesInTheSelectedTimeCount) {
  TraceBuilder builder;
  builder.op("work", 0, 1000);
  builder.sample("power", 100, 1).sample("power", 500, 2).sample("load", 100, 3);
  Selection selection;
  selection.window = Interval{time_ns(400), time_ns(600)};
  const Answer table("telemetry", builder.build(), TableOptions(), selection);
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.at(0, "samples"), whole(0));
  EXPECT_EQ(table.at(0, "mean"), kNull);
  EXPECT_EQ(table.at(1, "mean"), Value(2.0));
  ASSERT_EQ(table.notes().size(), 1U);
  EXPECT_TRUE(table.notes()[0].starts_with("1 counters have no sample"));
}

ProcessRun run(std::int64_t pid, std::int64_t parent, std::int64_t start, std::int32_t status = 0) {
  ProcessRun made;
  made.pid = pid;
  made.parent = parent;
  made.start_ns = start;
  made.status = status;
  return made;
}

Trace with_runs(std::vector<ProcessRun> runs) {
  TraceBuilder builder;
  builder.op("work", 0, 1000);
  Trace trace = builder.build();
  trace.process_runs = std::move(runs);
  return trace;
}

std::vector<Value> pids(const Answer& table) {
  std::vector<Value> found;
  for (std::size_t row = 0; row < table.rows(); ++row) found.push_back(table.at(row, "pid"));
  return found;
}

TEST(ProcessesReport, ParentsComeBeforeTheirChildren) {
  const Answer table("processes",
                     with_runs({run(1, 20, 50), run(2, 20, 40), run(3, 1, 60), run(20, 0, 10)}));
  EXPECT_EQ(pids(table), (std::vector<Value>{whole(20), whole(2), whole(1), whole(3)}));
}

TEST(ProcessesReport, ARingOfParentsIsStillShownOnce) {
  const Answer table("processes", with_runs({run(1, 2, 5), run(2, 1, 6), run(3, 3, 7)}));
  EXPECT_EQ(table.rows(), 3U);
}

TEST(ProcessesReport, ExitsAreCodesOrSignals) {
  const Answer table("processes", with_runs({run(1, 0, 1, 3 << 8), run(2, 0, 2, SIGKILL),
                                             run(3, 0, 3, SIGSEGV | 0x80), run(4, 0, 4, -1)}));
  EXPECT_EQ(table.at(0, "exit"), text("3"));
  EXPECT_EQ(table.at(1, "exit"), text("SIGKILL"));
  EXPECT_EQ(table.at(2, "exit"), text("SIGSEGV"));
  EXPECT_EQ(table.at(3, "exit"), kNull);
  ASSERT_EQ(table.notes().size(), 1U);
  EXPECT_EQ(table.notes()[0], "How 1 of 4 processes ended was not recorded.");
}

TEST(ProcessesReport, WallTimeIsFromStartToEndWhereNobodyMeasuredIt) {
  ProcessRun made = run(1, 0, 100);
  made.end_ns = 1100;
  made.user_ns = 400;
  made.system_ns = 100;
  const Answer table("processes", with_runs({made}));
  EXPECT_EQ(table.at(0, "wall_ns"), whole(1000));
  EXPECT_EQ(table.at(0, "cpu_percent"), Value(50.0));
}

/// A loop that waits for two batches, and a worker that makes them.
Trace loading() {
  TraceBuilder builder;
  builder.on_thread(1, 1);
  const SliceId first =
      builder.annotation("enumerate(DataLoader)#x", 0, 100).category("loader.fetch");
  const SliceId second =
      builder.annotation("enumerate(DataLoader)#x", 200, 50).category("loader.fetch");
  builder.on_thread(2, 2);
  for (std::int64_t i = 0; i < 59; ++i) {
    builder.slice(SliceKind::other, "sample", 60 * i, i + 1).category("loader.sample");
  }
  builder.slice(SliceKind::other, "collate", 3600, 30).category("loader.collate");
  Trace trace = builder.build();
  trace.numbers = {{first, 0}, {second, 1}};
  return trace;
}

TEST(LoaderReport, EachProcessHasItsWaitsOrItsWork) {
  const Answer table("loader", loading(), "process");
  ASSERT_EQ(table.rows(), 2U);
  const auto of = [&](std::size_t row, std::string_view column) { return table.at(row, column); };
  EXPECT_EQ(of(0, "fetches"), whole(2));
  EXPECT_EQ(of(0, "wait_ns"), whole(150));
  EXPECT_EQ(of(0, "wait_mean_ns"), whole(75));
  EXPECT_EQ(of(0, "sample_mean_ns"), kNull);
  EXPECT_EQ(of(0, "wait_p95_ns"), kNull);  // two waits have no tail
  EXPECT_EQ(of(1, "samples"), whole(59));
  EXPECT_EQ(of(1, "sample_mean_ns"), whole(30));
  EXPECT_EQ(of(1, "sample_p95_ns"), whole(57));
  EXPECT_EQ(of(1, "collate_mean_ns"), whole(30));
  EXPECT_EQ(of(1, "wait_ns"), kNull);
}

/// The profile of a data set in process 2, whose transforms are composed.
void add_data_set(Trace& trace) {
  const StringId file = trace.strings.intern("data.py");
  const auto function = [&](const char* name, std::uint64_t calls) {
    trace.functions.push_back(
        {.pid = 2, .file = file, .name = trace.strings.intern(name), .line = 3, .calls = calls});
  };
  const auto called = [&](const char* name, const char* caller, std::uint64_t calls,
                          std::int64_t time) {
    trace.function_calls.push_back({.pid = 2,
                                    .file = file,
                                    .name = trace.strings.intern(name),
                                    .line = 3,
                                    .caller_file = file,
                                    .caller_name = trace.strings.intern(caller),
                                    .caller_line = 3,
                                    .calls = calls,
                                    .primitive = calls,
                                    .total = duration_ns(time)});
  };
  function("Subset.__getitem__", 59);
  function("Data.__getitem__", 59);
  function("Compose.__call__", 59);
  for (const char* const name : {"Resize.__call__", "Flip.__call__", "open", "read", "other"})
    function(name, 59);
  called("Data.__getitem__", "Subset.__getitem__", 59, 1600);
  called("Compose.__call__", "Data.__getitem__", 59, 1100);
  called("open", "Data.__getitem__", 59, 400);
  called("read", "open", 59, 300);  // part of that
  called("Resize.__call__", "Compose.__call__", 59, 900);
  called("Flip.__call__", "Compose.__call__", 118, 100);
  called("Data.__getitem__", "Data.__getitem__", 0, 0);  // a damaged profile may go round
  called("read", "other", 1, 5000);                      // not for a sample
}

TEST(LoaderReport, ByTransformItHasWhatSamplesAreMadeOf) {
  Trace trace = loading();
  add_data_set(trace);
  const Answer table("loader", trace, "transform");
  using Row = std::tuple<std::string, std::int64_t, std::int64_t>;
  std::vector<Row> rows;
  for (std::size_t row = 0; row < table.rows(); ++row)
    rows.emplace_back(table.text(row, "transform"), table.number(row, "calls"),
                      table.number(row, "time_ns"));
  // 59 samples took 1 to 59 ns.
  EXPECT_EQ(rows, (std::vector<Row>{{"Resize.__call__", 59, 900},
                                    {"open", 59, 400},
                                    {"(rest of samples)", 59, 370},
                                    {"Flip.__call__", 118, 100},
                                    {"(collate)", 1, 30}}));
  EXPECT_EQ(table.sum("time_ns"), 1770 + 30);
  EXPECT_EQ(table.number(0, "per_sample_ns"), 15);
  EXPECT_EQ(table.real(0, "share_percent"), 50.0);
  EXPECT_EQ(table.text(0, "location"), "data.py:3");
  EXPECT_TRUE(table.null(0, "samples"));
  EXPECT_TRUE(table.null(0, "device_idle_ns"));
  EXPECT_TRUE(table.notes().empty());
}

/// A profile knows who called whom, not in which call: a module's calls may be the model's.
TEST(LoaderReport, AModuleThatTheModelCallsTooHasARowOfTheCallsForSamples) {
  for (const bool of_model : {false, true}) {
    TraceBuilder builder;
    builder.on_thread(2, 2);
    builder.slice(SliceKind::other, "sample", 0, 1000).category("loader.sample");
    Trace trace = builder.build();
    const StringId file = trace.strings.intern("code.py");
    const auto name = [&](std::string_view text) { return trace.strings.intern(text); };
    const auto function = [&](std::string_view text, std::uint64_t calls) {
      trace.functions.push_back({.pid = 2, .file = file, .name = name(text), .calls = calls});
    };
    const auto called = [&](std::string_view by, std::string_view text, std::uint64_t calls,
                            std::int64_t total) {
      trace.function_calls.push_back({.pid = 2,
                                      .file = file,
                                      .name = name(text),
                                      .caller_file = file,
                                      .caller_name = name(by),
                                      .calls = calls,
                                      .total = Duration(total)});
    };
    const std::uint64_t more = of_model ? 3 : 0;
    function("Data.__getitem__", 1);
    function("Module._call_impl", 2 + more);
    function("Compose.forward", 1);
    function("Resize.forward", 1);
    called("Data.__getitem__", "Module._call_impl", 1, 900);
    called("Module._call_impl", "Compose.forward", 1, 890);
    called("Compose.forward", "Module._call_impl", 1, 880);
    called("Module._call_impl", "Resize.forward", 1, 870);
    if (of_model) {
      function("train", 1);
      function("Net.forward", 3);
      called("train", "Module._call_impl", 3, 5000);
      called("Module._call_impl", "Net.forward", 3, 4900);
    }
    const Answer table("loader", trace, "transform");
    ASSERT_EQ(table.rows(), 2U);
    EXPECT_EQ(table.text(0, "transform"), of_model ? "Module._call_impl" : "Resize.forward");
    EXPECT_EQ(table.number(0, "time_ns"), of_model ? 900 : 870);
    EXPECT_EQ(table.sum("time_ns"), 1000);
  }
}

TEST(LoaderReport, WithoutAProfileOnlyThePartsAreKnown) {
  const Answer table("loader", loading(), "transform");
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.text(0, "transform"), "(rest of samples)");
  EXPECT_EQ(table.number(0, "time_ns"), 1770);
  ASSERT_EQ(table.notes().size(), 1U);
  EXPECT_NE(table.notes()[0].find("--with functions"), std::string::npos);
}

TEST(LoaderReport, TheIdleTimeOfAWaitIsSharedByTime) {
  TraceBuilder builder;
  builder.op("work", 0, 10);
  builder.runtime("cudaLaunchKernel", 2, 2, 1);
  builder.kernel("k", 5, 10, 1);
  builder.annotation("enumerate(DataLoader)#x", 20, 900).category("loader.fetch");
  builder.runtime("cudaLaunchKernel", 930, 2, 2);
  builder.kernel("k", 935, 10, 2);
  builder.on_thread(2, 2);
  builder.slice(SliceKind::other, "sample", 100, 300).category("loader.sample");
  builder.slice(SliceKind::other, "collate", 400, 100).category("loader.collate");
  const Trace trace = builder.build();
  const Analyses analyses(trace);
  const Context context{.trace = trace, .analyses = analyses, .selection = {}, .options = {}};
  const std::int64_t idle =
      to_ns(account(context, context.accounting(), 0, context.window())[Bucket::input]);
  EXPECT_GT(idle, 0);
  const Answer table("loader", trace, "transform");
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_NEAR(static_cast<double>(table.number(0, "device_idle_ns")),
              0.75 * static_cast<double>(idle), 1);
  EXPECT_NEAR(static_cast<double>(table.sum("device_idle_ns")), static_cast<double>(idle), 1);
}

TEST(LoaderReport, ByBatchItHasTheWaitOfEach) {
  const Answer table("loader", loading(), "batch");
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.at(1, "batch"), whole(1));
  EXPECT_EQ(table.at(1, "wait_ns"), whole(50));
}

}  // namespace
}  // namespace fathom
